#include <unistd.h>

#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/messages.h"
#include "cli/output.h"

namespace swarmkv::cli {
namespace {

std::string script_for(const std::string& shell) {
  if (shell == "bash") return bash_completion(completed_commands());
  if (shell == "zsh") return zsh_completion(completed_commands());
  if (shell == "fish") return fish_completion(completed_commands());
  const std::vector<std::string> known = {"bash", "zsh", "fish"};
  throw UsageError("completion is there for bash, zsh and fish, not for '" + shell + "'" +
                   did_you_mean(shell, known));
}

}  // namespace

int command_completion(const Settings& settings) {
  if (settings.arguments.size() != 1) {
    throw UsageError("completion takes one shell: bash, zsh or fish");
  }
  write_all(STDOUT_FILENO, script_for(settings.arguments.front()), "standard output");
  return 0;
}

}  // namespace swarmkv::cli
