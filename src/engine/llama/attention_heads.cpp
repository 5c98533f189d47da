#include "engine/llama/attention_heads.h"

#include <cstdint>

namespace swarmkv::internal {

AttentionShape announced_heads(const GgufInfo& file) {
  constexpr std::int64_t kMost = 1 << 20;
  const std::int64_t heads = file.number("attention.head_count").value_or(0);
  if (heads <= 0) return {};
  const std::int64_t size = file.number("attention.key_length").value_or(file.n_embd / heads);
  const std::int64_t kv_heads = file.number("attention.head_count_kv").value_or(heads);
  for (const std::int64_t n : {size, heads, kv_heads}) {
    if (n <= 0 || n > kMost) return {};
  }
  AttentionShape out;
  out.head_size = static_cast<int>(size);
  out.n_heads = static_cast<int>(heads);
  out.n_kv_heads = static_cast<int>(kv_heads);
  return out;
}

std::string why_no_grouped_attention(const GgufInfo& file) {
  const AttentionShape s = announced_heads(file);
  if (s.n_heads == 0) return "no attention heads";
  if (grouped_attention_supports(s.head_size, s.n_heads, s.n_kv_heads)) return {};
  return "heads of " + std::to_string(s.head_size) + " elements, " + std::to_string(s.n_heads) +
         " over " + std::to_string(s.n_kv_heads);
}

}  // namespace swarmkv::internal
