// Texts that come from a file, for messages: short and without control characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace swarmkv::internal {

/// Control characters become '?', what is longer than `most_bytes` ends in "...".
std::string shown(std::string_view text, std::size_t most_bytes = 80);

}  // namespace swarmkv::internal
