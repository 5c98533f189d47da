// The two kinds of entries a GGUF header is made of, read and checked one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "engine/gguf.h"
#include "engine/gguf_cursor.h"

namespace swarmkv::internal {

/// What is known of all tensors passed so far; one number each, however many the file claims.
struct GgufTensorWalk {
  std::uint64_t furthest_end = 0;  ///< relative to the start of the data
  std::string furthest_name;
  std::array<std::uint64_t, 64> elements_by_type{};
};

void read_gguf_metadata(GgufCursor& at, GgufInfo& info);

void read_gguf_tensor(GgufCursor& at, std::uint64_t alignment, GgufInfo& info,
                      GgufTensorWalk& walk);

}  // namespace swarmkv::internal
