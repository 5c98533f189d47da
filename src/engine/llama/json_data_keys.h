#pragma once

#include <string_view>

namespace swarmkv::internal {

/// What a JSON Schema says of values, not of their form: not to be read as a schema.
inline bool is_data_key(std::string_view key) {
  return key == "const" || key == "enum" || key == "default" || key == "examples";
}

}  // namespace swarmkv::internal
