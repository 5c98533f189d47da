// Prompts from a file.
#pragma once

#include <string>
#include <vector>

namespace swarmkv::cli {

bool is_blank(const std::string& text);

/// One a line; empty lines are for the reader. "-" = standard input.
/// errors  kUnreadable
std::vector<std::string> read_questions(const std::string& path);

}  // namespace swarmkv::cli
