#include "engine/llama/state_identity.h"

#include <cstdlib>
#include <string>

#include "base/build_info.h"
#include "engine/kv_bytes.h"
#include "engine/llama/kv_types.h"

namespace swarmkv::internal {
namespace {

// Everything about RoPE stands in the model's file, and nothing of it is changed here. Only which
// of two sets of factors is used follows the size of the context.
std::string rope_of(const GgufInfo& file, int n_cells) {
  if (!file.has_long_rope) return "model";
  const std::int64_t original =
      file.number("rope.scaling.original_context_length").value_or(file.n_ctx_train);
  return n_cells > original ? "long" : "short";
}

// Quantised caches hold K and V rotated, where the heads' size allows it, unless the environment
// says otherwise.
std::string rotation_of(const ContextOptions& options) {
  if (!is_quantized(options.type_k) && !is_quantized(options.type_v)) return "none";
  const char* disabled = std::getenv("LLAMA_ATTN_ROT_DISABLE");
  return disabled != nullptr && std::atoi(disabled) != 0 ? "off" : "model";
}

}  // namespace

StateIdentity state_identity(const LoadedModel& model, const ContextOptions& options, int n_cells) {
  StateIdentity identity;
  identity.arch = model.file.arch;
  identity.cache_type_k = to_string(options.type_k);
  identity.cache_type_v = to_string(options.type_v);
  identity.rope = rope_of(model.file, n_cells);
  identity.kv_rotation = rotation_of(options);
  identity.lora = "none";
  identity.engine = "llama.cpp " + std::string(build_info().llama_commit);
  identity.state_format = std::to_string(LLAMA_STATE_SEQ_VERSION);
  return identity;
}

bool has_cell_ext(const LoadedModel& model) {
  const llama_rope_type type = llama_model_rope_type(model.model.get());
  return type == LLAMA_ROPE_TYPE_MROPE || type == LLAMA_ROPE_TYPE_IMROPE;
}

}  // namespace swarmkv::internal
