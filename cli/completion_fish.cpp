#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.h"

namespace swarmkv::cli {
namespace {

constexpr std::string_view kHead = R"(# Completion of swarmkv for fish:
#   swarmkv completion fish > ~/.config/fish/completions/swarmkv.fish

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
  } else if (!option.values.empty()) {
    out += fmt::format(" -x -a '{}'", fmt::join(option.values, " "));
  } else if (option.takes_value) {
    out += " -x";
  }
  return out + "\n";
}

std::string command_lines(const CompletedCommand& command) {
  std::string out = fmt::format("complete -c swarmkv -n __fish_use_subcommand -a {} -d '{}'\n",
                                command.name, command.summary);
  const std::string condition = "__fish_seen_subcommand_from " + command.name;
  if (!command.words.empty()) {
    out += fmt::format("complete -c swarmkv -n '{}' -a '{}'\n", condition,
                       fmt::join(command.words, " "));
  } else if (command.takes_files) {
    out += fmt::format("complete -c swarmkv -n '{}' -F\n", condition);
  }
  for (const CompletedCommand::Option& option : command.options) {
    out += option_line(condition, option);
  }
  return out;
}

}  // namespace

std::string fish_completion(const std::vector<CompletedCommand>& commands) {
  std::string out(kHead);
  for (const CompletedCommand& command : commands) out += command_lines(command);
  return out;
}

}  // namespace swarmkv::cli
