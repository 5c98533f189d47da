#include "attention/self_test.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "attention/grouped.h"
#include "attention/half.h"
#include "attention/layout.h"
#include "attention/reference.h"

namespace swarmkv::internal {
namespace {

constexpr std::size_t kTokens = 4;
constexpr std::size_t kCells = 150;  // no multiple of anything
constexpr std::size_t kPrefix = 100;

template <typename Value>
std::byte* bytes(std::vector<Value>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

std::vector<std::uint16_t> some_mask() {
  std::vector<std::uint16_t> mask(kTokens * kCells, kHalfMinusInfinity);
  for (std::size_t t = 0; t + 1 < kTokens; ++t) {  // the last token sees nothing
    for (std::size_t c = 0; c < kCells; ++c) {
      const bool own = c >= kPrefix && c % kTokens == t;
      if (c < kPrefix || own) mask[t * kCells + c] = 0;
    }
  }
  return mask;
}

}  // namespace

double grouped_attention_error(int head_size, int n_heads, int n_kv_heads,
                               std::string_view target) {
  const auto head = static_cast<std::size_t>(head_size);
  const auto heads = static_cast<std::size_t>(n_heads);
  const auto kv_heads = static_cast<std::size_t>(n_kv_heads);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> even(-1.0F, 1.0F);
  std::vector<float> q(kTokens * heads * head);
  std::vector<std::uint16_t> k(kCells * kv_heads * head);
  std::vector<std::uint16_t> v(k.size());
  for (float& x : q) x = even(random);
  for (auto& x : k) x = float_to_half(even(random));
  for (auto& x : v) x = float_to_half(even(random));
  std::vector<std::uint16_t> mask = some_mask();
  std::vector<float> is(q.size());
  std::vector<float> should(q.size());

  const AttentionShape shape{
      head_size, n_heads, n_kv_heads, static_cast<int>(kTokens), static_cast<int>(kCells), 0.125F};
  AttentionTensors t{bytes(q),
                     heads * head * 4,
                     head * 4,
                     bytes(k),
                     kv_heads * head * 2,
                     head * 2,
                     bytes(v),
                     kv_heads * head * 2,
                     head * 2,
                     bytes(mask),
                     kCells * 2,
                     bytes(should),
                     heads * head * 4,
                     head * 4};
  reference_attention(shape, t);
  t.out = bytes(is);
  AttentionLayout layout;
  layout.read(t.mask, t.mask_token, shape.n_tokens, shape.n_cells);
  GroupedAttention attention(target);
  attention.prepare(shape, t, layout, 1);
  for (int phase = 0; phase < attention.n_phases(); ++phase) attention.run(phase, 0);

  return normalised_error(is, should);
}

}  // namespace swarmkv::internal
