#include <unistd.h>

#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/output.h"

namespace swarmkv::cli {

int command_help(const Settings& settings) {
  if (settings.arguments.size() > 1) {
    throw UsageError("help takes one COMMAND, but got " +
                     std::to_string(settings.arguments.size()) + ": '" + settings.arguments[0] +
                     "', '" + settings.arguments[1] + "'");
  }
  const std::string topic = settings.arguments.empty() ? "" : settings.arguments.front();
  const std::string text = help_text(topic);
  if (text.empty()) refuse_command(topic);
  write_all(STDOUT_FILENO, text, "standard output");
  return 0;
}

}  // namespace swarmkv::cli
