#include "attention/layout.h"

#include <algorithm>

#include "attention/half.h"

namespace swarmkv::internal {
namespace {

const std::uint16_t* row_of(const std::byte* mask, std::size_t mask_token, int token) {
  return reinterpret_cast<const std::uint16_t*>(mask +
                                                static_cast<std::size_t>(token) * mask_token);
}

bool follow_each_other(const std::int32_t* cells, int n) {
  for (int i = 1; i < n; ++i) {
    if (cells[i] != cells[0] + i) return false;
  }
  return true;
}

std::uint64_t bits_of(const std::uint16_t* values, int n) {
  std::uint64_t bits = 0;
  for (int i = 0; i < n; ++i) {
    bits |= static_cast<std::uint64_t>(values[i] != kHalfMinusInfinity) << i;
  }
  return bits;
}

std::uint64_t bits_of(const std::uint16_t* row, const std::int32_t* cells, int n) {
  std::uint64_t bits = 0;
  for (int i = 0; i < n; ++i) {
    bits |= static_cast<std::uint64_t>(row[cells[i]] != kHalfMinusInfinity) << i;
  }
  return bits;
}

}  // namespace

std::uint64_t AttentionLayout::most_bytes(int n_tokens, int n_cells) {
  const auto cells = static_cast<std::uint64_t>(n_cells);
  const std::uint64_t tiles = (cells + kTileCells - 1) / kTileCells;
  return cells * (sizeof(std::uint16_t) + sizeof(std::int32_t)) +
         static_cast<std::uint64_t>(n_tokens) * tiles * sizeof(std::uint64_t);
}

// Loops without branches, so that compilers make vector code of them: with many tokens this reads
// millions of values.
void AttentionLayout::find_seen_cells(const std::byte* mask, std::size_t mask_token, int n_tokens,
                                      int n_cells) {
  together_.assign(static_cast<std::size_t>(n_cells), 0);
  std::uint16_t adds = 0;
  for (int token = 0; token < n_tokens; ++token) {
    const std::uint16_t* row = row_of(mask, mask_token, token);
    std::uint16_t* together = together_.data();
    for (int cell = 0; cell < n_cells; ++cell) {
      const auto is_seen = static_cast<std::uint16_t>(row[cell] != kHalfMinusInfinity);
      together[cell] = static_cast<std::uint16_t>(together[cell] | is_seen);
      adds = static_cast<std::uint16_t>(adds | (is_seen & (row[cell] != 0)));
    }
  }
  adds_ = adds != 0;
}

void AttentionLayout::read(const std::byte* mask, std::size_t mask_token, int n_tokens, int n_cells,
                           std::span<const std::int32_t> positions) {
  find_seen_cells(mask, mask_token, n_tokens, n_cells);
  cells_.clear();
  for (int cell = 0; cell < n_cells; ++cell) {
    if (together_[static_cast<std::size_t>(cell)] != 0) cells_.push_back(cell);
  }
  if (!positions.empty()) {
    const auto before = [positions](std::int32_t a, std::int32_t b) {
      const std::int32_t at_a = positions[static_cast<std::size_t>(a)];
      const std::int32_t at_b = positions[static_cast<std::size_t>(b)];
      return at_a != at_b ? at_a < at_b : a < b;
    };
    if (!std::is_sorted(cells_.begin(), cells_.end(), before)) {
      std::sort(cells_.begin(), cells_.end(), before);
    }
  }
  const auto tiles = static_cast<std::size_t>(n_tiles());
  seen_.resize(static_cast<std::size_t>(n_tokens) * tiles);
  for (int tile = 0; tile < n_tiles(); ++tile) {
    const std::int32_t* cells = cells_.data() + static_cast<std::ptrdiff_t>(tile) * kTileCells;
    const int n = std::min(n_places() - tile * kTileCells, kTileCells);
    const bool in_a_row = follow_each_other(cells, n);
    for (int token = 0; token < n_tokens; ++token) {
      const std::uint16_t* row = row_of(mask, mask_token, token);
      seen_[static_cast<std::size_t>(token) * tiles + static_cast<std::size_t>(tile)] =
          in_a_row ? bits_of(row + cells[0], n) : bits_of(row, cells, n);
    }
  }
}

}  // namespace swarmkv::internal
