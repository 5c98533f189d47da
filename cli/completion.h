// Scripts that teach a shell to complete swarmkv's command lines, made of the table of flags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"

namespace swarmkv::cli {

/// What a script has to know about one command.
struct CompletedCommand {
  struct Option {
    std::vector<std::string> spellings;  ///< with dashes: "--ctx-size", "-c"
    bool takes_value = false, is_file = false, is_folder = false, repeats = false;
    std::vector<std::string_view> values;  ///< beside a file, if it is one
  };
  std::string name;
  std::string_view summary;
  std::vector<Option> options;
  std::vector<std::string> words;  ///< what stands behind it, if that is a list
  bool takes_files = false;        ///< or that it is a file
  bool takes_snapshots = false;    ///< or the name of a snapshot
  /// A word behind it decides about the rest, as if it were a command; `words` are their names and
  /// `options` those of all.
  std::vector<CompletedCommand> verbs{};
};

std::vector<CompletedCommand> completed_commands();

/// `script` with the pattern of snapshots' names in the place of its mark, @SNAPSHOTS@.
std::string with_snapshot_files(std::string_view script);

std::string bash_completion(const std::vector<CompletedCommand>& commands);
std::string zsh_completion(const std::vector<CompletedCommand>& commands);
std::string fish_completion(const std::vector<CompletedCommand>& commands);

}  // namespace swarmkv::cli
