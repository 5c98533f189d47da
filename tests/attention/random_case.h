// Attention calls drawn at random, and the same tokens again in other company.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "attention/attention_case.h"

namespace swarmkv::internal::test {

using Random = std::mt19937;

inline int draw(Random& random, int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(random);
}

/// Shared prefixes with holes, tails of one's own, windows, causal chunks, rows that see one cell
/// or nothing, and masks with other values than zero.
inline void random_mask(AttentionCase& c, Random& random) {
  const int n = c.shape.n_cells;
  const int kind = draw(random, 0, 6);
  if (kind <= 2) c.share_prefix(draw(random, 0, n), random());
  for (int t = 0; t < c.shape.n_tokens; ++t) {
    if (kind == 3) c.see_range(t, 0, std::min(n, std::max(0, n - c.shape.n_tokens) + t + 1));
    if (kind == 4) c.see_range(t, std::max(0, n / 2 - t - 40), std::max(1, n / 2 - t));
    if (kind == 5 && draw(random, 0, 3) != 0) c.see(t, draw(random, 0, n - 1));
    if (kind == 6) {  // a few cells here and there
      for (int i = draw(random, 0, 9); i > 0; --i) c.see(t, draw(random, 0, n - 1));
    }
    if (kind == 1) {  // holes
      for (int i = 0; i < n / 7; ++i) {
        c.mask[static_cast<std::size_t>(t) * n + draw(random, 0, n - 1)] = kHalfMinusInfinity;
      }
    }
    if (kind == 2) c.see(t, draw(random, 0, n - 1), -1.5F);
  }
  if (draw(random, 0, 9) == 0) {  // one who sees nothing
    const auto row =
        c.mask.begin() + static_cast<std::ptrdiff_t>(n) * draw(random, 0, c.shape.n_tokens - 1);
    std::fill(row, row + n, kHalfMinusInfinity);
  }
}

/// Sizes of all kinds, each drawn for itself: mostly small ones, and what is left of the cells
/// where the product would take a second.
inline AttentionCase random_case(int i) {
  Random random(static_cast<Random::result_type>(i) + 1000);
  constexpr int kHeads[][2] = {{9, 3}, {4, 1}, {8, 8}, {6, 2}, {16, 2}, {1, 1}};
  constexpr int kSizes[] = {64, 64, 64, 64, 64, 128, 128, 256};
  constexpr int kPairs = 20'000'000;  // elements of queries times cells
  const auto& heads = kHeads[draw(random, 0, 5)];
  const int size = kSizes[draw(random, 0, 7)];
  const int how_many = draw(random, 0, 31);
  const int n_tokens = draw(random, 1, how_many == 0 ? 512 : how_many <= 3 ? 70 : 12);
  const int n_cells = draw(random, 1, draw(random, 0, 15) == 0 ? 3000 : 400);
  const int row = size * heads[0];
  AttentionCase c(size, heads[0], heads[1], n_tokens,
                  std::min(n_cells, std::max(1, kPairs / (row * n_tokens))), random());
  random_mask(c, random);
  return c;
}

/// Some tokens of `c` in another order among new ones, its cells elsewhere in a larger cache, with
/// positions that say where they belong. kept[i] is where token kept[i].first went.
struct Moved {
  AttentionCase c;
  std::vector<std::pair<int, int>> kept;  ///< token in the old case, token in the new one
};

inline Moved moved(const AttentionCase& old, Random& random) {
  const AttentionShape& s = old.shape;
  const int n_new = draw(random, 0, 20);
  const int n_tokens = std::max(1, draw(random, 1, s.n_tokens) + n_new);
  const int n_cells = s.n_cells + draw(random, 0, 200);
  Moved m{AttentionCase(s.head_size, s.n_heads, s.n_kv_heads, n_tokens, n_cells, random()), {}};
  const auto shuffled = [&random](int n) {
    std::vector<int> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), random);
    return all;
  };
  const std::vector<int> tokens = shuffled(s.n_tokens);
  const std::vector<int> token_places = shuffled(n_tokens);
  const std::vector<int> cells = shuffled(n_cells);  // of the old cells, then of the others
  const auto row = static_cast<std::ptrdiff_t>(s.head_size) * s.n_heads;
  const auto cell_row = static_cast<std::ptrdiff_t>(s.head_size) * s.n_kv_heads;

  m.c.positions.assign(static_cast<std::size_t>(n_cells), -1);
  for (int i = 0; i < n_cells; ++i) {
    const int to = cells[static_cast<std::size_t>(i)];
    const bool is_old = i < s.n_cells;
    m.c.positions[static_cast<std::size_t>(to)] = is_old ? i : draw(random, 0, s.n_cells);
    if (!is_old) continue;
    std::copy_n(old.k.begin() + i * cell_row, cell_row, m.c.k.begin() + to * cell_row);
    std::copy_n(old.v.begin() + i * cell_row, cell_row, m.c.v.begin() + to * cell_row);
  }
  for (int i = 0; i < n_tokens; ++i) {
    const int to = token_places[static_cast<std::size_t>(i)];
    if (i >= s.n_tokens || i >= n_tokens - n_new) {  // somebody new
      for (int cell = 0; cell < n_cells; ++cell) {
        if (draw(random, 0, 2) == 0) m.c.see(to, cell, draw(random, 0, 5) == 0 ? -0.5F : 0.0F);
      }
      continue;
    }
    const int from = tokens[static_cast<std::size_t>(i)];
    std::copy_n(old.q.begin() + from * row, row, m.c.q.begin() + to * row);
    for (int cell = 0; cell < s.n_cells; ++cell) {
      m.c.mask[static_cast<std::size_t>(to) * n_cells + cells[static_cast<std::size_t>(cell)]] =
          old.mask[static_cast<std::size_t>(from) * s.n_cells + cell];
    }
    m.kept.emplace_back(from, to);
  }
  return m;
}

}  // namespace swarmkv::internal::test
