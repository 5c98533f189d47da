#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "swarmkv/engine.h"

namespace swarmkv::cli {

int command_version(const Settings& settings) {
  if (!settings.arguments.empty()) {
    throw UsageError("version takes no argument, but got '" + settings.arguments.front() + "'");
  }
  write_all(STDOUT_FILENO, fmt::format("swarmkv {} (llama.cpp {})\n", version(), llama_version()),
            "standard output");
  return 0;
}

}  // namespace swarmkv::cli
