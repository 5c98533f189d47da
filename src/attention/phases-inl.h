// The steps of one block: pack its queries, score its cells, turn scores into weights, mix values.
// Compiled once for each target.
#if defined(SWARMKV_ATTENTION_PHASES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SWARMKV_ATTENTION_PHASES_INL_H
#undef SWARMKV_ATTENTION_PHASES_INL_H
#else
#define SWARMKV_ATTENTION_PHASES_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "attention/block-inl.h"
#include "attention/kernels-inl.h"
#include "attention/mask-inl.h"
#include "attention/weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace swarmkv::internal {
namespace HWY_NAMESPACE {

HWY_INLINE void pack_queries(const Block& block) {
  const AttentionBlocks& b = block.b;
  std::fill_n(block.room, block.head * block.stride, 0.0F);
  for (int i = 0; i < block.rows.n_rows; ++i) {
    const int row = block.rows.row + i;
    const int head = block.kv_head * b.group + row % b.group;
    const auto* q = reinterpret_cast<const float*>(
        block.tensors.q + row / b.group * block.tensors.q_token + head * block.tensors.q_head);
    for (std::size_t d = 0; d < block.head; ++d) {
      block.room[d * block.stride + static_cast<std::size_t>(i)] = q[d] * b.shape.scale;
    }
  }
}

/// Asks for the same place of the next tile. A head's keys, and its values, lie a cell's stride
/// apart, and processors do not foresee enough of that: a layer takes about a sixth less time with
/// it.
HWY_INLINE void prefetch_next(const Block& block, int place, const std::byte* numbers,
                              std::size_t cell_stride, std::size_t n) {
  const int cell = block.layout.cell(std::min(place + kTileCells, block.layout.n_places() - 1));
  for (std::size_t i = 0; i < n; i += 64) hwy::Prefetch(numbers + cell * cell_stride + i);
}

template <int kVectors, int kCells>
HWY_INLINE int score_groups(const Block& block, const TileRows& rows, int tile, int vector,
                            int first, const float* mask) {
  const std::size_t stride = block.tensors.k_cell;
  const std::byte* of_head = block.tensors.k + block.kv_head * block.tensors.k_head;
  float* keys = block.scratch + block.b.at_cells;
  for (; first + kCells <= rows.n_cells; first += kCells) {
    for (int i = 0; i < kCells; ++i) {
      const int place = tile * kTileCells + rows.cells[first + i];
      const std::byte* key = of_head + block.layout.cell(place) * stride;
      prefetch_next(block, place, of_head, stride, block.head * 2);
      widen(reinterpret_cast<const std::uint16_t*>(key), block.head, keys + i * block.head);
    }
    score_cells<kCells, kVectors>(keys, block.head, block.room + vector * kLanes, block.stride,
                                  rows, first, mask, block.most(tile) + vector * kLanes);
  }
  return first;
}

template <int kVectors>
HWY_INLINE void score_part(const Block& block, const TileRows& rows, int tile, int vector) {
  const float* mask = block.view(tile).open
                          ? nullptr
                          : block.scratch + block.b.at_mask + vector * (kTileCells * kLanes);
  int first = score_groups<kVectors, kBlockCells<kVectors>>(block, rows, tile, vector, 0, mask);
  first = score_groups<kVectors, 4>(block, rows, tile, vector, first, mask);
  first = score_groups<kVectors, 2>(block, rows, tile, vector, first, mask);
  score_groups<kVectors, 1>(block, rows, tile, vector, first, mask);
}

HWY_INLINE void score_tile(const Block& block, int tile) {
  const TileView view = view_tile(block.b, block.layout, block.rows, tile);
  block.view(tile) = view;
  std::fill_n(block.most(tile), block.stride, -INFINITY);
  if (view.any == 0) return;
  if (!view.open) {
    spread_mask(block.b, block.layout, block.tensors, block.rows, tile, view,
                block.scratch + block.b.at_mask);
  }
  for_each_part(block, tile,
                [&](int vector, int n_vectors, const std::uint8_t* cells, int n) HWY_ATTR {
                  const TileRows rows = tile_rows(block, tile, vector, cells, n);
                  switch (n_vectors) {
                    case 1:
                      return score_part<1>(block, rows, tile, vector);
                    case 2:
                      return score_part<2>(block, rows, tile, vector);
                    case 3:
                      return score_part<3>(block, rows, tile, vector);
                    default:
                      return score_part<kMostTargetVectors>(block, rows, tile, vector);
                  }
                });
}

template <int kElements, int kVectors>
HWY_NOINLINE void mix_broken(const float* values, std::size_t width, const TileRows& rows,
                             int first, int n, float* out, std::size_t out_stride) {
  for (std::size_t d = 0; d < width; d += kElements) {
    mix_elements<kElements, kVectors, true>(values + d, width, rows, first, n, out + d * out_stride,
                                            out_stride);
  }
}

template <int kVectors>
HWY_INLINE void mix_part(const Block& block, const TileRows& rows, int tile, int vector,
                         std::size_t begin, std::size_t end) {
  const std::size_t stride = block.tensors.v_cell;
  const std::byte* of_slice =
      block.tensors.v + block.kv_head * block.tensors.v_head + begin * sizeof(std::uint16_t);
  constexpr std::size_t kElements = kBlockCells<kVectors>;
  constexpr std::size_t kRoom = 4096;  // floats: as many cells at once as stay in the first cache
  const std::size_t width = end - begin;
  const int at_once = static_cast<int>(kRoom / width);
  float* values = block.scratch + block.b.at_cells;
  for (int first = 0; first < rows.n_cells; first += at_once) {
    const int n = std::min(at_once, rows.n_cells - first);
    auto largest = hn::Zero(kHalfBits);
    for (int i = 0; i < n; ++i) {
      const int place = tile * kTileCells + rows.cells[first + i];
      const std::byte* value = of_slice + block.layout.cell(place) * stride;
      prefetch_next(block, place, of_slice, stride, width * 2);
      const auto* halves = reinterpret_cast<const std::uint16_t*>(value);
      widen(halves, width, values + i * width);
      look_at(halves, width, largest);
    }
    float* out = block.out() + begin * block.stride + vector * kLanes;
    if (is_broken(largest)) {
      mix_broken<kElements, kVectors>(values, width, rows, first, n, out, block.stride);
      continue;
    }
    for (std::size_t d = 0; d < width; d += kElements) {
      mix_elements<kElements, kVectors, false>(values + d, width, rows, first, n,
                                               out + d * block.stride, block.stride);
    }
  }
}

HWY_INLINE void write_rows(const Block& block, std::size_t begin, std::size_t end,
                           const float* sums) {
  const AttentionBlocks& b = block.b;
  for (int i = 0; i < block.rows.n_rows; ++i) {
    const int row = block.rows.row + i;
    const int head = block.kv_head * b.group + row % b.group;
    auto* to =
        reinterpret_cast<float*>(block.tensors.out + row / b.group * block.tensors.out_token +
                                 head * block.tensors.out_head);
    const float part = sums[i] == 0.0F ? 0.0F : 1.0F / sums[i];
    for (std::size_t d = begin; d < end; ++d) to[d] = block.out()[d * block.stride + i] * part;
  }
}

/// Elements [begin, end) of the result, over all cells. A whole block's scores become weights here,
/// tile by tile while they are in the first cache, so it calls this once; others' are weights
/// already.
HWY_INLINE void mix_values(const Block& block, int slice, std::size_t begin, std::size_t end) {
  float* sums = block.sums(slice);
  std::fill_n(sums, block.stride, 0.0F);
  std::fill_n(block.out() + begin * block.stride, (end - begin) * block.stride, 0.0F);
  const RowMaxima maxima(block);
  for (int tile = 0; tile < block.b.n_tiles; ++tile) {
    if (block.view(tile).any == 0) continue;
    for_each_part(
        block, tile, [&](int vector, int n_vectors, const std::uint8_t* cells, int n) HWY_ATTR {
          const TileRows rows = tile_rows(block, tile, vector, cells, n);
          if (block.b.whole) {
            weigh_part<true>(rows, n_vectors, maxima.most + vector, sums + vector * kLanes);
          } else {
            add_weights(rows, n_vectors, sums + vector * kLanes);
          }
          switch (n_vectors) {
            case 1:
              return mix_part<1>(block, rows, tile, vector, begin, end);
            case 2:
              return mix_part<2>(block, rows, tile, vector, begin, end);
            case 3:
              return mix_part<3>(block, rows, tile, vector, begin, end);
            default:
              return mix_part<kMostTargetVectors>(block, rows, tile, vector, begin, end);
          }
        });
  }
  write_rows(block, begin, end, sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace swarmkv::internal
HWY_AFTER_NAMESPACE();

#endif
