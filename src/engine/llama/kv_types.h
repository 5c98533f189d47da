// KV cache types in the runtime's terms.
#pragma once

#include "engine/types.h"
#include "ggml.h"

namespace swarmkv::internal {

[[nodiscard]] ggml_type kv_ggml_type(KvType type);
[[nodiscard]] bool is_quantized(KvType type);

}  // namespace swarmkv::internal
