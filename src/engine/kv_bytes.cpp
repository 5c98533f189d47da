#include "engine/kv_bytes.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/kv_type_names.h"

namespace swarmkv::internal {
namespace {

constexpr std::int64_t kMostValues = 1 << 28;  // what is claimed beyond is damage

// Bytes of 32 values.
std::uint64_t block_bytes(KvType type) {
  switch (type) {
    case KvType::kF32:
      return 128;
    case KvType::kF16:
    case KvType::kBF16:
      return 64;
    case KvType::kQ8_0:
      return 34;
    case KvType::kQ5_1:
      return 24;
    case KvType::kQ5_0:
      return 22;
    case KvType::kQ4_1:
      return 20;
    case KvType::kQ4_0:
      return 18;
  }
  return 64;
}

struct HeadSize {
  std::int64_t k, v;

  friend bool operator==(const HeadSize&, const HeadSize&) = default;
};

// One number for all layers, or one each.
std::int64_t of_layer(const std::vector<std::int64_t>& values, std::size_t layer) {
  if (values.size() == 1) return values[0];
  return layer < values.size() ? values[layer] : 0;
}

}  // namespace

const char* to_string(KvType type) {
  static_assert(static_cast<std::size_t>(KvType::kQ4_0) + 1 == kKvTypeNames.size());
  return kKvTypeNames[static_cast<std::size_t>(type)];
}

std::uint64_t kv_row_bytes(KvType type, std::int64_t n_values) {
  if (n_values <= 0) return 0;
  const auto n = static_cast<std::uint64_t>(n_values);
  if (type <= KvType::kBF16) return n * (block_bytes(type) / 32);
  return (n + 31) / 32 * block_bytes(type);
}

std::uint64_t kv_cell_bytes(const GgufInfo& file, ForkKind kind, KvType type_k, KvType type_v) {
  constexpr int kMostLayers = 100000;
  const auto heads = file.numbers("attention.head_count");
  auto kv_heads = file.numbers("attention.head_count_kv");
  if (kv_heads.empty()) kv_heads = heads;
  if (kv_heads.empty() || file.n_layers <= 0 || file.n_layers > kMostLayers) return 0;
  if (kind == ForkKind::kRecurrent && kv_heads.size() == 1) return 0;

  const std::int64_t n_head = heads.empty() ? 0 : *std::max_element(heads.begin(), heads.end());
  const std::int64_t usual = n_head > 0 ? file.n_embd / n_head : 0;
  HeadSize full{file.number("attention.key_length").value_or(usual),
                file.number("attention.value_length").value_or(usual)};
  HeadSize window{file.number("attention.key_length_swa").value_or(full.k),
                  file.number("attention.value_length_swa").value_or(full.v)};
  // Latent attention keeps one compressed row, from which both are made.
  if (file.number("attention.key_length_mla")) full.v = window.v = 0;

  // Window layers with head sizes of their own are known where they are listed. A single number is
  // a period, and which layer it starts with is known to the runtime alone.
  const auto n_layers = static_cast<std::size_t>(file.n_layers);
  const auto in_window = file.numbers("attention.sliding_window_pattern");
  if (window != full && in_window.size() < std::max<std::size_t>(n_layers, 2)) return 0;

  // The last layers of some models read the cells of earlier ones.
  const std::int64_t shared = file.number("attention.shared_kv_layers").value_or(0);
  const std::int64_t n_own = file.n_layers - std::clamp<std::int64_t>(shared, 0, file.n_layers);
  std::uint64_t total = 0;
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(n_own); ++layer) {
    const bool windowed = window != full && in_window[layer] != 0;
    const HeadSize& size = windowed ? window : full;
    const std::int64_t n = of_layer(kv_heads, layer);
    if (n < 0 || n > kMostValues || size.k > kMostValues || size.v > kMostValues) return 0;
    total += kv_row_bytes(type_k, n * size.k) + kv_row_bytes(type_v, n * size.v);
  }
  return total;
}

}  // namespace swarmkv::internal
