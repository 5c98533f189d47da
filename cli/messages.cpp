#include "cli/messages.h"

#include <unistd.h>

#include "cli/output.h"
#include "swarmkv/error.h"
#include "swarmkv/pipeline.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {

void say(std::string_view text) {
  try {
    write_all(STDERR_FILENO, text, "standard error");
  } catch (const Error&) {
    // Closed or full: the exit code still tells.
  }
}

void say_error(const std::string& message) {
  say("swarmkv: " + escape_for_terminal(message) + "\n");
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::optional<std::string> nearest = nearest_name(word, candidates);
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}

}  // namespace swarmkv::cli
