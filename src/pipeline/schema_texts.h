#pragma once

#include <string_view>

namespace swarmkv::internal {

/// What an editor shows of a key of the pipeline file; "" if there is no such key.
std::string_view key_description(std::string_view key);

}  // namespace swarmkv::internal
