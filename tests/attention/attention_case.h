// One attention call with random numbers, and masks as the scheduler's caches make them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "attention/attention.h"
#include "attention/grouped.h"
#include "attention/half.h"
#include "attention/layout.h"

namespace swarmkv::internal::test {

struct AttentionCase {
  AttentionShape shape;
  std::vector<float> q, out;
  std::vector<std::uint16_t> k, v, mask;
  std::vector<std::int32_t> positions;  ///< of the cells; empty: in order
  std::string target;                   ///< of the kernel; empty: the best one

  AttentionCase(int head_size, int n_heads, int n_kv_heads, int n_tokens, int n_cells,
                std::mt19937::result_type seed)
      : shape{head_size, n_heads, n_kv_heads, n_tokens, n_cells, 0.125F} {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    const auto count = [](int a, int b, int c) { return static_cast<std::size_t>(a) * b * c; };
    q.resize(count(n_tokens, n_heads, head_size));
    out.assign(q.size(), 77.0F);
    k.resize(count(n_cells, n_kv_heads, head_size));
    v.resize(k.size());
    mask.assign(count(n_tokens, n_cells, 1), kHalfMinusInfinity);
    for (float& x : q) x = normal(random);
    for (auto& x : k) x = float_to_half(normal(random));
    for (auto& x : v) x = float_to_half(normal(random));
  }

  void see(int token, int cell, float add = 0) {
    mask[static_cast<std::size_t>(token) * shape.n_cells + cell] = float_to_half(add);
  }
  void see_range(int token, int begin, int end) {
    for (int cell = begin; cell < end; ++cell) see(token, cell);
  }

  /// Every token sees [0, n_prefix), and each later cell belongs to one token drawn at random.
  void share_prefix(int n_prefix, std::mt19937::result_type seed) {
    std::mt19937 random(seed);
    for (int t = 0; t < shape.n_tokens; ++t) see_range(t, 0, n_prefix);
    for (int c = n_prefix; c < shape.n_cells; ++c) {
      see(static_cast<int>(random() % static_cast<unsigned>(shape.n_tokens)), c);
    }
  }

  [[nodiscard]] AttentionTensors tensors() {
    return packed_tensors(shape, q.data(), k.data(), v.data(), mask.data(), out.data());
  }

  [[nodiscard]] AttentionLayout layout() const {
    AttentionLayout l;
    l.read(reinterpret_cast<const std::byte*>(mask.data()),
           static_cast<std::size_t>(shape.n_cells) * 2, shape.n_tokens, shape.n_cells, positions);
    return l;
  }

  /// Runs as if by n_threads threads, one after the other within each phase. The first one finds
  /// all of a phase's work, so that is another in each phase, and in phase 0 the last.
  [[nodiscard]] std::vector<float> grouped(int n_threads = 1) {
    GroupedAttention attention(target);
    std::fill(out.begin(), out.end(), 77.0F);
    const AttentionLayout seen = layout();
    attention.prepare(shape, tensors(), seen, n_threads);
    for (int phase = 0; phase < attention.n_phases(); ++phase) {
      for (int turn = 0; turn < n_threads; ++turn) {
        attention.run(phase, (n_threads - 1 + phase + turn) % n_threads);
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<float> row(const std::vector<float>& result, int token) const {
    const auto n = static_cast<std::ptrdiff_t>(shape.head_size) * shape.n_heads;
    return {result.begin() + token * n, result.begin() + (token + 1) * n};
  }
};

}  // namespace swarmkv::internal::test
