#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.h"

namespace swarmkv::cli {
namespace {

constexpr std::string_view kHead = R"(#compdef swarmkv
# Completion of swarmkv for zsh: put it as _swarmkv into a folder of $fpath, or in ~/.zshrc
#   source <(swarmkv completion zsh)

# Names in the folder of snapshots: what the command line says, or the environment, or the cache.
_swarmkv_snapshots() {
  local folder=${opt_args[--snapshot-dir]:-$SWARMKV_SNAPSHOT_DIR}
  : ${folder:=${SWARMKV_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/swarmkv}/snapshots}
  _files -W "${~folder}" -g '@SNAPSHOTS@'
}

_swarmkv() {
)";

constexpr std::string_view kTail = R"(}

# Read from a folder of $fpath it runs at once; read by 'source' it says who it is for.
if [[ $funcstack[1] == _swarmkv ]]; then
  _swarmkv "$@"
else
  compdef _swarmkv swarmkv
fi
)";

// '(--ctx-size -c)'{--ctx-size=,-c}':value:(auto)'; with the sign the value may stand behind it,
// too.
std::string option_line(const CompletedCommand::Option& option) {
  std::vector<std::string> spellings = option.spellings;
  for (std::string& each : spellings) {
    if (option.takes_value && each.starts_with("--")) each += '=';
  }
  std::string names = spellings.front();
  std::string out = "      ";
  if (option.repeats) {
    out += "'*'";
  } else {
    out += fmt::format("'({})'", fmt::join(option.spellings, " "));
  }
  if (spellings.size() > 1) names = fmt::format("{{{}}}", fmt::join(spellings, ","));
  out += names;
  if (option.takes_value) {
    const std::string values = fmt::format("{}", fmt::join(option.values, " "));
    const std::string action = option.is_folder ? "_files -/"
                               : option.is_file && !values.empty()
                                   ? fmt::format("{{compadd {}; _files}}", values)
                               : option.is_file         ? "_files"
                               : !option.values.empty() ? fmt::format("({})", values)
                                                        : " ";
    out += fmt::format("':value:{}'", action);
  }
  return out + " \\\n";
}

std::string arguments_of(const CompletedCommand& command) {
  std::string out = fmt::format("    {})\n      _arguments -S \\\n", command.name);
  for (const CompletedCommand::Option& option : command.options) out += option_line(option);
  std::string rest = "'*::text: '";
  if (!command.words.empty()) {
    rest = fmt::format("'1:word:({})'", fmt::join(command.words, " "));
  } else if (command.takes_files) {
    rest = "'*:file:_files'";
  } else if (command.takes_snapshots) {
    rest = "'*:snapshot:_swarmkv_snapshots'";
  }
  return out + "      " + rest + "\n      ;;\n";
}

std::string command_case(const CompletedCommand& command) {
  if (command.verbs.empty()) return arguments_of(command);
  std::string out = fmt::format(
      "    {})\n      if (( CURRENT == 2 )); then\n        compadd {}\n        return\n      fi\n"
      "      command=$words[2]\n      shift words\n      (( CURRENT-- ))\n      case $command in\n",
      command.name, fmt::join(command.words, " "));
  for (const CompletedCommand& verb : command.verbs) out += arguments_of(verb);
  return out + "      esac\n      ;;\n";
}

}  // namespace

std::string zsh_completion(const std::vector<CompletedCommand>& commands) {
  std::string out = with_snapshot_files(kHead);
  out += "  if (( CURRENT == 2 )); then\n    local -a commands\n    commands=(\n";
  for (const CompletedCommand& command : commands) {
    out += fmt::format("      '{}:{}'\n", command.name, command.summary);
  }
  out +=
      "    )\n    _describe -t commands 'swarmkv command' commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const CompletedCommand& command : commands) out += command_case(command);
  return out.append("  esac\n").append(kTail);
}

}  // namespace swarmkv::cli
