// Brings the words of a command line into the one form that the option parser gets: long flags,
// each with its value as the next word. llama.cpp's short flags of several letters (-ngl) would be
// read as -n with value "gl".
#pragma once

#include <string>
#include <vector>

namespace swarmkv::cli {

struct RewrittenArgs {
  std::vector<std::string> words;         ///< long flags, values, plain words
  std::vector<std::string> after_dashes;  ///< everything behind "--", untouched
};

/// `args` come without the program's and the command's name. A word that is the value of the flag
/// before it is never looked at; flags the table does not know stay as they are.
RewrittenArgs rewrite_args(const std::vector<std::string>& args);

}  // namespace swarmkv::cli
