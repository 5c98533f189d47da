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

/// True for what the grouped kernel computes; each size here has its own tests.
[[nodiscard]] constexpr bool grouped_attention_supports(int head_size, int n_heads,
                                                        int n_kv_heads) {
  const bool size = head_size == 64 || head_size == 128 || head_size == 256;
  return size && n_kv_heads > 0 && n_heads >= n_kv_heads && n_heads % n_kv_heads == 0;
}

}  // namespace swarmkv::internal
