#include "attention/blocks.h"

#include <algorithm>
#include <limits>

namespace swarmkv::internal {
namespace {

constexpr int divided_up(int a, int b) { return (a + b - 1) / b; }

constexpr std::size_t rounded(std::size_t floats) { return (floats + 15) / 16 * 16; }

// Time of a block of so many vectors, in units of one vector in a full block: a narrow one loads
// and converts as many keys for fewer rows. Measured with AVX-512.
constexpr double block_cost(int n_vectors) {
  constexpr double kOfVector[] = {1.3, 1.02, 1.01, 1.0};
  return n_vectors * kOfVector[n_vectors - 1];
}

// The scores of a block should stay in a core's second cache: over long caches blocks are narrower.
int widest_block(const AttentionBlocks& b, int most_vectors) {
  constexpr int kScoreFloats = 1 << 18;
  constexpr int kLeast = 2;
  const std::int64_t of_vector = std::int64_t{b.n_tiles} * kTileCells * b.lanes;
  const auto fitting = static_cast<int>(kScoreFloats / std::max<std::int64_t>(of_vector, 1));
  return std::min({most_vectors, b.n_vectors, std::max(fitting, kLeast)});
}

// A call that is cut along the cells keeps the scores of all its blocks. With more of them the
// threads are about as busy when each takes whole ones.
constexpr int too_many_to_split(int n_threads) { return 2 * n_threads; }

// The least time until the last thread is done; wide blocks where it does not matter.
void choose_blocks(AttentionBlocks& b, int most_vectors) {
  constexpr double kSplitCost = 1.15;  // three more barriers, and scores leave the thread's cache
  double least = 0;
  for (int width = widest_block(b, most_vectors); width >= 1; --width) {
    const int n_blocks = divided_up(b.n_vectors, width) * b.shape.n_kv_heads;
    const double cost = block_cost(width);
    const double whole = divided_up(n_blocks, b.n_threads) * cost;
    const double split = n_blocks < too_many_to_split(b.n_threads)
                             ? n_blocks * cost / b.n_threads * kSplitCost
                             : std::numeric_limits<double>::infinity();
    if (least == 0 || std::min(whole, split) < 0.98 * least) {
      least = std::min(whole, split);
      b.whole = whole <= split;
      b.block_vectors = width;
      b.n_blocks = n_blocks;
    }
  }
}

void lay_out(AttentionBlocks& b) {
  const auto rows = static_cast<std::size_t>(b.block_vectors) * static_cast<std::size_t>(b.lanes);
  const auto head = static_cast<std::size_t>(b.shape.head_size);
  const auto tiles = static_cast<std::size_t>(b.n_tiles);
  b.at_scores = rounded(head * rows);
  b.at_most = b.at_scores + rounded(tiles * kTileCells * rows);
  b.at_out = b.at_most + rounded(tiles * rows);
  b.at_views = b.at_out + rounded((head + static_cast<std::size_t>(b.n_slices)) * rows);
  b.block_floats = b.at_views + rounded(tiles * sizeof(TileView) / sizeof(float));

  b.at_cells = rounded(kTileCells * rows);
  b.scratch_floats = b.at_cells + rounded(std::max<std::size_t>(8 * head, 4096));
}

}  // namespace

AttentionBlocks cut_attention(const AttentionShape& shape, int n_places, int n_threads, int lanes,
                              int most_vectors) {
  AttentionBlocks b;
  b.shape = shape;
  b.n_threads = std::max(n_threads, 1);
  b.lanes = lanes;
  b.group = shape.n_heads / shape.n_kv_heads;
  b.n_rows = shape.n_tokens * b.group;
  b.n_vectors = divided_up(b.n_rows, lanes);
  b.n_tiles = divided_up(n_places, kTileCells);
  choose_blocks(b, most_vectors);
  if (!b.whole) {
    constexpr int kPiecesPerThread = 2;
    constexpr int kLeastSlice = 16;  // elements of a head
    const int pieces = divided_up(kPiecesPerThread * b.n_threads, b.n_blocks);
    b.n_chunks = std::clamp(pieces, 1, std::max(b.n_tiles, 1));
    while (b.n_slices < pieces && shape.head_size / b.n_slices > kLeastSlice) b.n_slices *= 2;
  }
  lay_out(b);
  return b;
}

std::size_t most_attention_floats(AttentionShape shape, int n_places, int n_threads, int lanes,
                                  int most_vectors) {
  // As whole blocks: the widest there can be, one a thread.
  AttentionBlocks b = cut_attention(shape, n_places, n_threads, lanes, most_vectors);
  b.whole = true;
  b.n_slices = 1;
  b.block_vectors = widest_block(b, most_vectors);
  lay_out(b);
  std::size_t most = b.n_floats();
  // Cut along the cells: so many rows at most.
  const int n_rows = too_many_to_split(b.n_threads) * most_vectors * lanes;
  for (int n = std::min(shape.n_tokens, divided_up(n_rows, shape.n_heads) + lanes); n >= 1; --n) {
    shape.n_tokens = n;
    most =
        std::max(most, cut_attention(shape, n_places, n_threads, lanes, most_vectors).n_floats());
  }
  return most;
}

}  // namespace swarmkv::internal
