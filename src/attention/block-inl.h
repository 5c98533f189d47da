// One block of a call: which rows it has, and where its numbers lie. Compiled once for each target.
#if defined(SWARMKV_ATTENTION_BLOCK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SWARMKV_ATTENTION_BLOCK_INL_H
#undef SWARMKV_ATTENTION_BLOCK_INL_H
#else
#define SWARMKV_ATTENTION_BLOCK_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "attention/kernels-inl.h"
#include "attention/mask-inl.h"

HWY_BEFORE_NAMESPACE();
namespace swarmkv::internal {
namespace HWY_NAMESPACE {

/// One block, with its room and a thread's scratch room.
struct Block {
  Block(const AttentionBlocks& blocks, const AttentionLayout& seen, const AttentionTensors& t,
        int index, float* own, float* scratch_room)
      : b(blocks), layout(seen), tensors(t), room(own), scratch(scratch_room) {
    const BlockPlace place = place_of_block(b, index);
    kv_head = place.kv_head;
    const int lanes = static_cast<int>(kLanes);
    rows.n_vectors = std::min(b.block_vectors, b.n_vectors - place.vector);
    rows.row = place.vector * lanes;
    rows.n_rows = std::min(rows.n_vectors * lanes, b.n_rows - rows.row);
    stride = static_cast<std::size_t>(rows.n_vectors) * kLanes;
    vector_stride = static_cast<std::size_t>(b.n_tiles) * kTileCells * kLanes;
    head = static_cast<std::size_t>(b.shape.head_size);
  }

  [[nodiscard]] TileView& view(int tile) const {
    return reinterpret_cast<TileView*>(room + b.at_views)[tile];
  }
  [[nodiscard]] float* most(int tile) const { return room + b.at_most + tile * stride; }
  [[nodiscard]] float* out() const { return room + b.at_out; }
  [[nodiscard]] float* sums(int slice) const { return out() + head * stride + slice * stride; }

  const AttentionBlocks& b;
  const AttentionLayout& layout;
  const AttentionTensors& tensors;
  float* room;
  float* scratch;
  BlockRows rows{};
  int kv_head = 0;
  std::size_t stride = 0, vector_stride = 0, head = 0;
};

/// Calls work(first vector, number of vectors, places in the tile, how many) for the parts of a
/// tile.
template <typename Work>
HWY_INLINE void for_each_part(const Block& block, int tile, const Work& work) {
  const TileView& view = block.view(tile);
  std::uint8_t cells[kTileCells];
  const auto list = [&cells](std::uint64_t bits) HWY_ATTR {
    int n = 0;
    for (; bits != 0; bits &= bits - 1)
      cells[n++] = static_cast<std::uint8_t>(std::countr_zero(bits));
    return n;
  };
  if (view.dense) {
    work(0, block.rows.n_vectors, cells, list(view.any));
    return;
  }
  for (int r = 0; r < block.rows.n_vectors; ++r) {
    if (view.live[r] != 0) work(r, 1, cells, list(view.live[r]));
  }
}

HWY_INLINE TileRows tile_rows(const Block& block, int tile, int vector, const std::uint8_t* cells,
                              int n_cells) {
  float* scores = block.room + block.b.at_scores + vector * block.vector_stride +
                  static_cast<std::size_t>(tile) * kTileCells * kLanes;
  return {scores, block.vector_stride, cells, n_cells};
}

}  // namespace HWY_NAMESPACE
}  // namespace swarmkv::internal
HWY_AFTER_NAMESPACE();

#endif
