#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.h"

namespace swarmkv::cli {
namespace {

constexpr std::string_view kHead = R"(# Completion of swarmkv for fish:
#   swarmkv completion fish > ~/.config/fish/completions/swarmkv.fish

# Names in the folder of snapshots: what the command line says, or the environment, or the cache.
function __swarmkv_snapshots
  set -l words (commandline -opc)
  set -l folder $SWARMKV_SNAPSHOT_DIR
  if set -l i (contains -i -- --snapshot-dir $words)
    set folder $words[(math $i + 1)]
  end
  if test -z "$folder"
    set -l cache $SWARMKV_CACHE
    if test -z "$cache"
      set cache $HOME/.cache/swarmkv
      test -n "$XDG_CACHE_HOME"; and set cache $XDG_CACHE_HOME/swarmkv
    end
    set folder $cache/snapshots
  end
  for file in $folder/@SNAPSHOTS@
    string replace -r '^.*/' '' -- $file
  end
end

complete -c swarmkv -f
)";

// fish tells letters (-s), old-style words behind one dash (-o) and long names (-l) apart.
std::string spelling(const std::string& text) {
  if (text.starts_with("--")) return " -l " + text.substr(2);
  return (text.size() == 2 ? " -s " : " -o ") + text.substr(1);
}

std::string option_line(const std::string& condition, const CompletedCommand::Option& option) {
  std::string out = "complete -c swarmkv -n '" + condition + "'";
  for (const std::string& each : option.spellings) out += spelling(each);
  if (option.is_file) {
    out += " -r -F";
    if (!option.values.empty()) out += fmt::format(" -a '{}'", fmt::join(option.values, " "));
  } else if (option.is_folder) {
    out += " -x -a '(__fish_complete_directories)'";
  } else if (!option.values.empty()) {
    out += fmt::format(" -x -a '{}'", fmt::join(option.values, " "));
  } else if (option.takes_value) {
    out += " -x";
  }
  return out + "\n";
}

std::string offers(const CompletedCommand& command, const std::string& condition) {
  std::string out;
  if (command.takes_files) {
    out += fmt::format("complete -c swarmkv -n '{}' -F\n", condition);
  } else if (command.takes_snapshots) {
    out += fmt::format("complete -c swarmkv -n '{}' -a '(__swarmkv_snapshots)'\n", condition);
  }
  for (const CompletedCommand::Option& option : command.options) {
    out += option_line(condition, option);
  }
  return out;
}

std::string command_lines(const CompletedCommand& command) {
  std::string out = fmt::format("complete -c swarmkv -n __fish_use_subcommand -a {} -d '{}'\n",
                                command.name, command.summary);
  const std::string condition = "__fish_seen_subcommand_from " + command.name;
  const std::string words = fmt::format("{}", fmt::join(command.words, " "));
  const std::string undecided =
      condition + (command.verbs.empty() ? "" : "; and not __fish_seen_subcommand_from " + words);
  if (!words.empty()) out += fmt::format("complete -c swarmkv -n '{}' -a '{}'\n", undecided, words);
  if (command.verbs.empty()) return out + offers(command, condition);
  for (const CompletedCommand& verb : command.verbs) {
    out += offers(verb, condition + "; and __fish_seen_subcommand_from " + verb.name);
  }
  return out;
}

}  // namespace

std::string fish_completion(const std::vector<CompletedCommand>& commands) {
  std::string out = with_snapshot_files(kHead);
  for (const CompletedCommand& command : commands) out += command_lines(command);
  return out;
}

}  // namespace swarmkv::cli
