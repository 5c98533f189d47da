#include "engine/llama/kv_types.h"

#include <algorithm>

namespace swarmkv::internal {
namespace {

std::int64_t element(const std::vector<std::int64_t>& values, std::size_t layer,
                     std::int64_t otherwise) {
  if (values.empty()) return otherwise;
  if (values.size() == 1) return values[0];
  return layer < values.size() ? values[layer] : 0;
}

std::uint64_t row_bytes(KvType type, std::int64_t elements) {
  const ggml_type ggml = kv_ggml_type(type);
  const std::int64_t block = ggml_blck_size(ggml);
  if (elements <= 0) return 0;
  return static_cast<std::uint64_t>((elements + block - 1) / block) * ggml_type_size(ggml);
}

}  // namespace

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

std::uint64_t kv_cell_bytes(const GgufInfo& file, ForkKind kind, KvType type_k, KvType type_v) {
  constexpr int kMostLayers = 100000;
  const auto heads = file.numbers("attention.head_count");
  auto kv_heads = file.numbers("attention.head_count_kv");
  if (kv_heads.empty()) kv_heads = heads;
  if (kv_heads.empty() || file.n_layers <= 0 || file.n_layers > kMostLayers) return 0;

  // Of a recurrent or hybrid model only a list by layer says which layers have cells at all.
  const bool by_layer = kv_heads.size() > 1;
  if (kind == ForkKind::kRecurrent && !by_layer) return 0;

  const std::int64_t n_head = heads.empty() ? 0 : *std::max_element(heads.begin(), heads.end());
  const std::int64_t usual = n_head > 0 ? file.n_embd / n_head : 0;
  const std::int64_t k_size = file.number("attention.key_length").value_or(usual);
  std::int64_t v_size = file.number("attention.value_length").value_or(usual);
  // Latent attention keeps one compressed row, from which both are made.
  if (file.number("attention.key_length_mla")) v_size = 0;
  // Where window layers have head sizes of their own, which layers those are is not in the file.
  if (file.number("attention.key_length_swa").value_or(k_size) != k_size) return 0;

  const std::int64_t shared = file.number("attention.shared_kv_layers").value_or(0);
  const std::int64_t n_layers =
      std::max<std::int64_t>(file.n_layers - std::max<std::int64_t>(shared, 0), 0);
  constexpr std::int64_t kMostElements = 1 << 28;
  std::uint64_t total = 0;
  for (std::int64_t layer = 0; layer < n_layers; ++layer) {
    const std::int64_t n = element(kv_heads, static_cast<std::size_t>(layer), 0);
    if (n < 0 || n > kMostElements || k_size > kMostElements || v_size > kMostElements) return 0;
    total += row_bytes(type_k, n * k_size) + row_bytes(type_v, n * v_size);
  }
  return total;
}

}  // namespace swarmkv::internal
