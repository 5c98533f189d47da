// What the rows of a block see of a tile, read from the mask. Compiled once for each target.
#if defined(SWARMKV_ATTENTION_MASK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SWARMKV_ATTENTION_MASK_INL_H
#undef SWARMKV_ATTENTION_MASK_INL_H
#else
#define SWARMKV_ATTENTION_MASK_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "attention/half.h"
#include "attention/kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace swarmkv::internal {
namespace HWY_NAMESPACE {

/// The cells of a token that are not masked, one bit each; adds_nothing: all values are zero.
HWY_INLINE std::uint64_t seen_cells(const std::uint16_t* mask, int n, bool& adds_nothing) {
  std::uint64_t seen = 0;
  if (n == kTileCells) {
    const hn::CappedTag<std::uint16_t, kTileCells> tag;
    const auto unseen = hn::Set(tag, kHalfMinusInfinity);
    auto together = hn::Zero(tag);
    for (std::size_t i = 0; i < kTileCells; i += hn::Lanes(tag)) {
      const auto values = hn::LoadU(tag, mask + i);
      std::uint64_t bits = 0;
      std::uint8_t bytes[16] = {};
      hn::StoreMaskBits(tag, hn::Ne(values, unseen), bytes);
      std::memcpy(&bits, bytes, sizeof bits);
      seen |= bits << i;
      together = hn::Or(together, values);
    }
    adds_nothing = hn::AllTrue(tag, hn::Eq(together, hn::Zero(tag)));
    return seen;
  }
  adds_nothing = false;  // a tile that the cache does not fill
  for (int i = 0; i < n; ++i) {
    if (mask[i] != kHalfMinusInfinity) seen |= std::uint64_t{1} << i;
  }
  return seen;
}

/// The rows [row, row + n_rows) of a head, all in one block of n_vectors.
struct BlockRows {
  int row, n_rows, n_vectors;
};

/// Mask values as the scores lie: minus infinity, and over it what each token adds where it sees.
HWY_INLINE void spread_mask(const AttentionBlocks& b, const AttentionTensors& t,
                            const BlockRows& rows, int tile, const TileView& view,
                            const std::uint64_t* bits, float* mask) {
  const Vector unseen = hn::Set(kFloats, -INFINITY);
  for (int r = 0; r < rows.n_vectors; ++r) {
    if (view.live[r] == 0 && !view.dense) continue;
    float* values = mask + r * kTileCells * kLanes;
    for (std::size_t i = 0; i < kTileCells; ++i) hn::Store(unseen, kFloats, values + i * kLanes);
  }
  const int end = rows.row + rows.n_rows;
  for (int token = rows.row / b.group; token * b.group < end; ++token, ++bits) {
    const auto* from =
        reinterpret_cast<const std::uint16_t*>(t.mask + token * t.mask_token) + tile * kTileCells;
    const int first = std::max(token * b.group, rows.row) - rows.row;
    const int last = std::min((token + 1) * b.group, end) - rows.row;
    for (std::uint64_t left = *bits; left != 0; left &= left - 1) {
      const auto cell = static_cast<std::size_t>(std::countr_zero(left));
      const float value = from[cell] == 0 ? 0.0F : half_to_float(from[cell]);
      for (int row = first; row < last; ++row) {
        const auto lane = static_cast<std::size_t>(row) % kLanes;
        const auto vector = static_cast<std::size_t>(row) / kLanes;
        mask[(vector * kTileCells + cell) * kLanes + lane] = value;
      }
    }
  }
}

/// bits: room for one word for each token of the block.
HWY_INLINE TileView view_tile(const AttentionBlocks& b, const AttentionTensors& t,
                              const BlockRows& rows, int tile, std::uint64_t* bits, float* mask) {
  TileView view;
  view.open = true;
  const int n_cells = std::min(b.shape.n_cells - tile * kTileCells, kTileCells);
  const int end = rows.row + rows.n_rows;
  std::uint64_t* out = bits;
  for (int token = rows.row / b.group; token * b.group < end; ++token) {
    const auto* from =
        reinterpret_cast<const std::uint16_t*>(t.mask + token * t.mask_token) + tile * kTileCells;
    bool adds_nothing = false;
    const std::uint64_t seen = seen_cells(from, n_cells, adds_nothing);
    *out++ = seen;
    view.open = view.open && adds_nothing;
    if (seen == 0) continue;
    const int first = std::max(token * b.group, rows.row) - rows.row;
    const int last = std::min((token + 1) * b.group, end) - rows.row - 1;
    for (int r = first / static_cast<int>(kLanes); r <= last / static_cast<int>(kLanes); ++r) {
      view.live[r] |= seen;
    }
    view.any |= seen;
  }
  if (view.any == 0) return view;
  // Computing masked pairs costs less than starting over for each vector, up to a point.
  int n_live = 0;
  for (int r = 0; r < rows.n_vectors; ++r) n_live += std::popcount(view.live[r]);
  view.dense = 2 * n_live >= rows.n_vectors * std::popcount(view.any);
  if (!view.open) spread_mask(b, t, rows, tile, view, bits, mask);
  return view;
}

}  // namespace HWY_NAMESPACE
}  // namespace swarmkv::internal
HWY_AFTER_NAMESPACE();

#endif
