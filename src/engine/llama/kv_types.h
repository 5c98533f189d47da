// KV cache types, and how many bytes a cell takes.
#pragma once

#include <cstdint>
#include <string>

#include "engine/gguf.h"
#include "engine/types.h"
#include "ggml.h"

namespace swarmkv::internal {

[[nodiscard]] ggml_type kv_ggml_type(KvType type);
[[nodiscard]] bool is_quantized(KvType type);

/// K and V of one cell over all layers, from the file's metadata; 0 where it does not say enough.
[[nodiscard]] std::uint64_t kv_cell_bytes(const GgufInfo& file, ForkKind kind, KvType type_k,
                                          KvType type_v);

}  // namespace swarmkv::internal
