// What the tokens of a forward see of the cache, worked out once for all its layers.
//
//   cells of the cache     | document ..... | a0 b0 | free | b1 a1 | c0 |
//   places, by position    | document ..... | a0 b0 c0 | b1 a1 |
//
// The kernel walks *places*: the cells that somebody sees, in the order of the positions they hold.
// So a sequence's own cells come in its own order wherever the cache put them, and a row's sums do
// not depend on what was there before. What nobody sees costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace swarmkv::internal {

inline constexpr int kTileCells = 64;  ///< places of a tile: one word of bits

/// One thread at a time; const calls may overlap.
class AttentionLayout {
 public:
  /// mask         F16, n_cells a token, mask_token bytes from token to token; minus infinity = the
  ///              token does not see the cell
  /// positions    what each cell holds, or empty: then places are in the order of the cells
  /// cost         two passes over the mask; keeps its room
  void read(const std::byte* mask, std::size_t mask_token, int n_tokens, int n_cells,
            std::span<const std::int32_t> positions = {});

  [[nodiscard]] static std::uint64_t most_bytes(int n_tokens, int n_cells);

  [[nodiscard]] int n_places() const { return static_cast<int>(cells_.size()); }
  [[nodiscard]] int n_tiles() const { return (n_places() + kTileCells - 1) / kTileCells; }
  [[nodiscard]] int cell(int place) const { return cells_[static_cast<std::size_t>(place)]; }

  /// Places of a tile that the token sees, one bit each.
  [[nodiscard]] std::uint64_t seen(int token, int tile) const {
    return seen_[static_cast<std::size_t>(token) * static_cast<std::size_t>(n_tiles()) +
                 static_cast<std::size_t>(tile)];
  }
  /// All places of a tile; the last one may have fewer than 64.
  [[nodiscard]] std::uint64_t all(int tile) const {
    const int n = n_places() - tile * kTileCells;
    return n >= kTileCells ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
  }
  /// Some cell that is seen has another mask value than zero.
  [[nodiscard]] bool adds() const { return adds_; }

 private:
  void find_seen_cells(const std::byte* mask, std::size_t mask_token, int n_tokens, int n_cells);

  std::vector<std::uint16_t> together_;  ///< of each cell: 1 if somebody sees it
  std::vector<std::int32_t> cells_;      ///< of each place
  std::vector<std::uint64_t> seen_;      ///< token after token
  bool adds_ = false;
};

}  // namespace swarmkv::internal
