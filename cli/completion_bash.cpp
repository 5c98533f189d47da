#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.h"

namespace swarmkv::cli {
namespace {

// Words are ours and hold letters, digits, dashes, dots and underscores: no quoting is needed
// inside of quotes.
constexpr std::string_view kHead = R"(# Completion of swarmkv for bash. In ~/.bashrc:
#   source <(swarmkv completion bash)

_swarmkv_words() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_swarmkv_files() {
  local IFS=$'\n'
  COMPREPLY+=($(compgen -f -- "$cur"))
  compopt -o filenames 2>/dev/null
}

_swarmkv_folders() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -d -- "$cur"))
  compopt -o filenames 2>/dev/null
}

# Names in the folder of snapshots: what the command line says, or the environment, or the cache.
_swarmkv_snapshots() {
  local IFS=$'\n' i word folder=$SWARMKV_SNAPSHOT_DIR
  for ((i = 2; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == --snapshot-dir ]] || continue
    word=${COMP_WORDS[i+1]}
    [[ $word == "=" ]] && word=${COMP_WORDS[i+2]}
    folder=${word/#\~\//$HOME/}
  done
  : "${folder:=${SWARMKV_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/swarmkv}/snapshots}"
  COMPREPLY=($(compgen -f -X '!@SNAPSHOTS@' -- "$folder/$cur"))
  COMPREPLY=("${COMPREPLY[@]##*/}")
}

_swarmkv() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  # bash takes --flag=value apart: three words.
  if [[ $cur == "=" ]]; then
    cur=""
  elif [[ $prev == "=" && $COMP_CWORD -ge 2 ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
)";

constexpr std::string_view kTail = R"(}

complete -F _swarmkv swarmkv
)";

std::string value_cases(const CompletedCommand& command) {
  std::string out;
  for (const CompletedCommand::Option& option : command.options) {
    if (!option.takes_value) continue;
    std::string action = "return";  // anything: nothing to offer
    if (option.is_file) action = "_swarmkv_files; return";
    if (option.is_folder) action = "_swarmkv_folders; return";
    if (!option.values.empty()) {
      action = fmt::format("_swarmkv_words \"{}\"; {}", fmt::join(option.values, " "), action);
    }
    out += fmt::format("        {}) {} ;;\n", fmt::join(option.spellings, "|"), action);
  }
  return out;
}

// What is offered behind a command, by what stands in front of the cursor.
std::string offers(const CompletedCommand& command) {
  std::vector<std::string> spellings;
  for (const CompletedCommand::Option& option : command.options) {
    spellings.insert(spellings.end(), option.spellings.begin(), option.spellings.end());
  }
  std::string others = ":";
  if (!command.words.empty()) {
    others = fmt::format("_swarmkv_words \"{}\"", fmt::join(command.words, " "));
  } else if (command.takes_files) {
    others = "_swarmkv_files";
  } else if (command.takes_snapshots) {
    others = "_swarmkv_snapshots";
  }
  std::string out;
  const std::string cases = value_cases(command);
  if (!cases.empty()) out += "      case $prev in\n" + cases + "      esac\n";
  return out + fmt::format(
                   "      if [[ $cur == -* ]]; then\n        _swarmkv_words \"{}\"\n"
                   "      else\n        {}\n      fi ;;\n",
                   fmt::join(spellings, " "), others);
}

std::string command_case(const CompletedCommand& command) {
  std::string out = "    " + command.name + ")\n";
  if (command.verbs.empty()) return out + offers(command);
  out += "      case $([[ $COMP_CWORD -gt 2 ]] && echo \"${COMP_WORDS[2]}\") in\n";
  for (const CompletedCommand& verb : command.verbs) {
    out += "      " + verb.name + ")\n" + offers(verb);
  }
  return out + "      *)\n" + offers(command) + "      esac ;;\n";
}

}  // namespace

std::string bash_completion(const std::vector<CompletedCommand>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CompletedCommand& command : commands) names.push_back(command.name);
  std::string out = with_snapshot_files(kHead);
  out += fmt::format(
      "  if [[ $COMP_CWORD -eq 1 ]]; then\n    _swarmkv_words \"{} --help --version\"\n    return\n"
      "  fi\n",
      fmt::join(names, " "));
  out += "  case ${COMP_WORDS[1]} in\n";
  for (const CompletedCommand& command : commands) out += command_case(command);
  return out.append("  esac\n").append(kTail);
}

}  // namespace swarmkv::cli
