#include "engine/llama/kv_types.h"

namespace swarmkv::internal {

ggml_type kv_ggml_type(KvType type) {
  switch (type) {
    case KvType::kF32:
      return GGML_TYPE_F32;
    case KvType::kF16:
      return GGML_TYPE_F16;
    case KvType::kBF16:
      return GGML_TYPE_BF16;
    case KvType::kQ8_0:
      return GGML_TYPE_Q8_0;
    case KvType::kQ5_1:
      return GGML_TYPE_Q5_1;
    case KvType::kQ5_0:
      return GGML_TYPE_Q5_0;
    case KvType::kQ4_1:
      return GGML_TYPE_Q4_1;
    case KvType::kQ4_0:
      return GGML_TYPE_Q4_0;
  }
  return GGML_TYPE_F16;
}

bool is_quantized(KvType type) { return ggml_is_quantized(kv_ggml_type(type)); }

}  // namespace swarmkv::internal
