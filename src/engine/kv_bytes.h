// How many bytes of KV cache a cell takes, from a file's metadata alone.
#pragma once

#include <cstdint>

#include "engine/gguf.h"
#include "engine/types.h"

namespace swarmkv::internal {

/// "f16", "q8_0", ...
[[nodiscard]] const char* to_string(KvType type);

/// A row of values in a cache type; the quantised ones come in blocks of 32.
[[nodiscard]] std::uint64_t kv_row_bytes(KvType type, std::int64_t n_values);

/// K and V of one cell over all layers; 0 where the file does not say enough. Of recurrent and
/// hybrid models only a list of heads by layer says which layers have cells at all. Without flash
/// attention the runtime pads V rows of different sizes to the largest; that is not reckoned with.
[[nodiscard]] std::uint64_t kv_cell_bytes(const GgufInfo& file, ForkKind kind, KvType type_k,
                                          KvType type_v);

}  // namespace swarmkv::internal
