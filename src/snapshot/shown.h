// Texts that come from a file, for messages: short and without control characters.
#pragma once

#include <string>
#include <string_view>

namespace swarmkv::internal {

/// Control characters become '?', what is longer than 80 bytes ends in "...".
std::string shown(std::string_view text);

}  // namespace swarmkv::internal
