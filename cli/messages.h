// What the program itself says, on stderr. Never fails: there is nowhere left to complain.
#pragma once

#include <string>
#include <string_view>

namespace swarmkv::cli {

void say(std::string_view text);
/// "swarmkv: <message>", safe for a terminal.
void say_error(const std::string& message);

}  // namespace swarmkv::cli
