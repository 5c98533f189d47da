#include "attention/self_test.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "attention/grouped.h"
#include "attention/half.h"
#include "attention/layout.h"
#include "attention/reference.h"

namespace swarmkv::internal {
namespace {

constexpr std::size_t kCells = 150;  // no multiple of anything
constexpr std::size_t kPrefix = 100;

std::vector<std::uint16_t> some_mask(std::size_t n_tokens) {
  std::vector<std::uint16_t> mask(n_tokens * kCells, kHalfMinusInfinity);
  for (std::size_t t = 0; t + 1 < n_tokens; ++t) {  // the last token sees nothing
    for (std::size_t c = 0; c < kCells; ++c) {
      const bool own = c >= kPrefix && c % n_tokens == t;
      if (c < kPrefix || own) mask[t * kCells + c] = 0;
    }
  }
  return mask;
}

double error_of(int head_size, int n_heads, int n_kv_heads, std::string_view target,
                std::size_t n_tokens, int n_threads) {
  const auto head = static_cast<std::size_t>(head_size);
  const auto heads = static_cast<std::size_t>(n_heads);
  const auto kv_heads = static_cast<std::size_t>(n_kv_heads);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> even(-1.0F, 1.0F);
  std::vector<float> q(n_tokens * heads * head);
  std::vector<std::uint16_t> k(kCells * kv_heads * head);
  std::vector<std::uint16_t> v(k.size());
  for (float& x : q) x = even(random);
  for (auto& x : k) x = float_to_half(even(random));
  for (auto& x : v) x = float_to_half(even(random));
  std::vector<std::uint16_t> mask = some_mask(n_tokens);
  std::vector<float> is(q.size());
  std::vector<float> should(q.size());

  const AttentionShape shape{
      head_size, n_heads, n_kv_heads, static_cast<int>(n_tokens), static_cast<int>(kCells), 1.0F};
  AttentionTensors t =
      packed_tensors(shape, q.data(), k.data(), v.data(), mask.data(), should.data());
  reference_attention(shape, t);
  t.out = reinterpret_cast<std::byte*>(is.data());
  AttentionLayout layout;
  layout.read(t.mask, t.mask_token, shape.n_tokens, shape.n_cells);
  GroupedAttention attention(target);
  attention.prepare(shape, t, layout, n_threads);
  for (int phase = 0; phase < attention.n_phases(); ++phase) {
    for (int thread = 0; thread < n_threads; ++thread) attention.run(phase, thread);
  }
  return normalised_error(is, should);
}

}  // namespace

double grouped_attention_error(int head_size, int n_heads, int n_kv_heads,
                               std::string_view target) {
  double most = 0;
  // A decode step of few agents, also as many threads cut it, and blocks of several vectors.
  for (const auto& [n_tokens, n_threads] : {std::pair(4, 1), std::pair(4, 16), std::pair(40, 2)}) {
    const double error = error_of(head_size, n_heads, n_kv_heads, target,
                                  static_cast<std::size_t>(n_tokens), n_threads);
    if (!(error <= most)) most = error;  // NaN too
    if (std::isnan(most)) break;
  }
  return most;
}

}  // namespace swarmkv::internal
