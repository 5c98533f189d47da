// What the rows of a block see of a tile. Compiled once for each target.
#if defined(SWARMKV_ATTENTION_MASK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SWARMKV_ATTENTION_MASK_INL_H
#undef SWARMKV_ATTENTION_MASK_INL_H
#else
#define SWARMKV_ATTENTION_MASK_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "attention/half.h"
#include "attention/kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace swarmkv::internal {
namespace HWY_NAMESPACE {

/// The rows [row, row + n_rows) of a head, all in one block of n_vectors.
struct BlockRows {
  int row, n_rows, n_vectors;
};

/// The tokens that rows belong to.
HWY_INLINE int first_token(const AttentionBlocks& b, const BlockRows& rows) {
  return rows.row / b.group;
}
HWY_INLINE int end_token(const AttentionBlocks& b, const BlockRows& rows) {
  return (rows.row + rows.n_rows + b.group - 1) / b.group;
}

/// Mask values as the scores lie: minus infinity, and over it what each token adds where it sees.
HWY_INLINE void spread_mask(const AttentionBlocks& b, const AttentionLayout& layout,
                            const AttentionTensors& t, const BlockRows& rows, int tile,
                            const TileView& view, float* mask) {
  const Vector unseen = hn::Set(kFloats, -INFINITY);
  for (int r = 0; r < rows.n_vectors; ++r) {
    if (view.live[r] == 0 && !view.dense) continue;
    float* values = mask + r * (kTileCells * kLanes);
    for (std::size_t i = 0; i < kTileCells; ++i) hn::Store(unseen, kFloats, values + i * kLanes);
  }
  const int end = rows.row + rows.n_rows;
  for (int token = first_token(b, rows); token < end_token(b, rows); ++token) {
    const auto* from = reinterpret_cast<const std::uint16_t*>(t.mask + token * t.mask_token);
    const int first = std::max(token * b.group, rows.row) - rows.row;
    const int last = std::min((token + 1) * b.group, end) - rows.row;
    for (std::uint64_t left = layout.seen(token, tile); left != 0; left &= left - 1) {
      const int place = std::countr_zero(left);
      const float value =
          layout.adds() ? half_to_float(from[layout.cell(tile * kTileCells + place)]) : 0.0F;
      for (int row = first; row < last; ++row) {
        const auto lane = static_cast<std::size_t>(row) % kLanes;
        const auto vector = static_cast<std::size_t>(row) / kLanes;
        mask[(vector * kTileCells + static_cast<std::size_t>(place)) * kLanes + lane] = value;
      }
    }
  }
}

HWY_INLINE TileView view_tile(const AttentionBlocks& b, const AttentionLayout& layout,
                              const BlockRows& rows, int tile) {
  TileView view;
  view.open = !layout.adds();
  const std::uint64_t all = layout.all(tile);
  const int end = rows.row + rows.n_rows;
  for (int token = first_token(b, rows); token < end_token(b, rows); ++token) {
    const std::uint64_t seen = layout.seen(token, tile);
    view.open = view.open && seen == all;
    if (seen == 0) continue;
    const int first = std::max(token * b.group, rows.row) - rows.row;
    const int last = std::min((token + 1) * b.group, end) - rows.row - 1;
    for (int r = first / static_cast<int>(kLanes); r <= last / static_cast<int>(kLanes); ++r) {
      view.live[r] |= seen;
    }
    view.any |= seen;
  }
  // Computing masked pairs costs less than starting over for each vector, up to a point.
  int n_live = 0;
  for (int r = 0; r < rows.n_vectors; ++r) n_live += std::popcount(view.live[r]);
  view.dense = 2 * n_live >= rows.n_vectors * std::popcount(view.any);
  return view;
}

}  // namespace HWY_NAMESPACE
}  // namespace swarmkv::internal
HWY_AFTER_NAMESPACE();

#endif
