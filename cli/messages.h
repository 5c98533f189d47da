// What the program itself says, on stderr. Never fails: there is nowhere left to complain.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace swarmkv::cli {

void say(std::string_view text);
/// "swarmkv: <message>", safe for a terminal.
void say_error(const std::string& message);

/// "; did you mean 'run'?", to go behind a message; empty if no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace swarmkv::cli
