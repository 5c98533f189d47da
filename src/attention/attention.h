// Words of the attention kernels: what one call computes, and where its numbers lie.
#pragma once

#include <cstddef>
#include <cstdint>

namespace swarmkv::internal {

/// Sizes of one call. Query heads share key/value heads in groups of n_heads / n_kv_heads.
struct AttentionShape {
  int head_size = 0;  ///< of queries, keys and values alike
  int n_heads = 0, n_kv_heads = 0;
  int n_tokens = 0;  ///< queries
  int n_cells = 0;   ///< keys and values a query may see
  float scale = 1.0F;
};

/// The numbers of one call; strides are in bytes. Elements of a head are contiguous.
struct AttentionTensors {
  const std::byte* q = nullptr;  ///< F32
  std::size_t q_token = 0, q_head = 0;
  const std::byte* k = nullptr;  ///< F16
  std::size_t k_cell = 0, k_head = 0;
  const std::byte* v = nullptr;  ///< F16
  std::size_t v_cell = 0, v_head = 0;
  /// F16, n_cells a token, added to the scores; minus infinity = the token does not see the cell.
  const std::byte* mask = nullptr;
  std::size_t mask_token = 0;
  std::byte* out = nullptr;  ///< F32; zeros for a token that sees no cell
  std::size_t out_token = 0, out_head = 0;
};

/// Of numbers without gaps: queries and results [token][head][element], keys and values
/// [cell][head][element], the mask [token][cell].
[[nodiscard]] inline AttentionTensors packed_tensors(const AttentionShape& shape, float* q,
                                                     std::uint16_t* k, std::uint16_t* v,
                                                     std::uint16_t* mask, float* out) {
  const auto bytes = [](auto* numbers) { return reinterpret_cast<std::byte*>(numbers); };
  const std::size_t head = static_cast<std::size_t>(shape.head_size) * sizeof(float);
  const std::size_t kv_head = static_cast<std::size_t>(shape.head_size) * sizeof(std::uint16_t);
  const std::size_t token = head * static_cast<std::size_t>(shape.n_heads);
  const std::size_t cell = kv_head * static_cast<std::size_t>(shape.n_kv_heads);
  AttentionTensors t;
  t.q = bytes(q);
  t.k = bytes(k);
  t.v = bytes(v);
  t.mask = bytes(mask);
  t.out = bytes(out);
  t.q_token = t.out_token = token;
  t.q_head = t.out_head = head;
  t.k_cell = t.v_cell = cell;
  t.k_head = t.v_head = kv_head;
  t.mask_token = static_cast<std::size_t>(shape.n_cells) * sizeof(std::uint16_t);
  return t;
}

/// True for what the grouped kernel computes; each size here has its own tests.
[[nodiscard]] constexpr bool grouped_attention_supports(int head_size, int n_heads,
                                                        int n_kv_heads) {
  const bool size = head_size == 64 || head_size == 128 || head_size == 256;
  return size && n_kv_heads > 0 && n_heads >= n_kv_heads && n_heads % n_kv_heads == 0;
}

}  // namespace swarmkv::internal
