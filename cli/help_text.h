#pragma once

#include <string>

namespace swarmkv::cli {

/// All of a command's flags ("run"), or the first page for ""; "" if there is no such command.
std::string help_text(const std::string& command);

/// What --help prints: at most a screen of 24 x 80. Of a command with more flags than that the most
/// used ones, and where the rest stands.
std::string help_screen(const std::string& command);

}  // namespace swarmkv::cli
