#include <unistd.h>

#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/nearest.h"
#include "cli/output.h"

namespace swarmkv::cli {

int command_help(const Settings& settings) {
  const std::string topic = settings.arguments.empty() ? "" : settings.arguments.front();
  const std::string text = help_text(topic);
  if (text.empty()) {
    const std::string hint = nearest(topic, command_names());
    throw UsageError("no help for '" + topic + "'" +
                     (hint.empty() ? "" : "; did you mean '" + hint + "'?"));
  }
  write_all(STDOUT_FILENO, text, "standard output");
  return 0;
}

}  // namespace swarmkv::cli
