#include "attention/blocks.h"

#include <algorithm>
#include <iterator>

namespace swarmkv::internal {
namespace {

constexpr int divided_up(int a, int b) { return (a + b - 1) / b; }

constexpr std::size_t rounded(std::size_t floats) { return (floats + 15) / 16 * 16; }

// Time of a block of so many vectors, relative: a narrow one loads and converts as many keys and
// values for fewer rows. Measured with AVX-512 and AVX2 over 3,500 to 32,000 cells, with one thread
// and all blocks of one width.
constexpr double kCostOfBlock[] = {0, 1.35, 2.34, 3.12, 4.0};
static_assert(std::size(kCostOfBlock) == kMostVectors + 1);

// A call that is cut along the cells keeps the scores of all its blocks. With more of them the
// threads are about as busy when each takes whole ones.
constexpr int too_many_to_split(int n_threads) { return 2 * n_threads; }

// Cuts the rows into blocks this wide; returns about when the last thread is done.
double cut_rows(AttentionBlocks& b, int width) {
  // Three more barriers, weights in a pass of their own, their sums once for each slice.
  constexpr double kSplitCost = 1.15;
  b.block_vectors = width;
  b.n_full = b.n_vectors / width * b.shape.n_kv_heads;
  const int rest = b.n_vectors % width;
  b.n_blocks = b.n_full + (rest != 0 ? b.shape.n_kv_heads : 0);
  const int full_rounds = divided_up(b.n_full, b.n_threads);
  const int rest_rounds = divided_up(b.n_blocks, b.n_threads) - full_rounds;
  const double full_cost = kCostOfBlock[width];
  const double rest_cost = kCostOfBlock[rest];
  const double whole = full_rounds * full_cost + rest_rounds * rest_cost;
  const double split =
      (b.n_full * full_cost + (b.n_blocks - b.n_full) * rest_cost) / b.n_threads * kSplitCost;
  b.whole = whole <= split || b.n_blocks >= too_many_to_split(b.n_threads);
  return b.whole ? whole : split;
}

// Wide blocks where it does not matter.
void choose_blocks(AttentionBlocks& b, int most_vectors) {
  int best = std::clamp(b.n_vectors, 1, most_vectors);
  double least = cut_rows(b, best);
  for (int width = best - 1; width >= 1; --width) {
    const double time = cut_rows(b, width);
    if (time >= 0.98 * least) continue;
    least = time;
    best = width;
  }
  cut_rows(b, best);
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

BlockPlace place_of_block(const AttentionBlocks& b, int index) {
  const int full_of_head = b.n_full / b.shape.n_kv_heads;
  if (index >= b.n_full) return {index - b.n_full, full_of_head * b.block_vectors};
  return {index / full_of_head, index % full_of_head * b.block_vectors};
}

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
  b.block_vectors = std::clamp(b.n_vectors, 1, most_vectors);
  lay_out(b);
  std::size_t most = b.n_floats();
  // Cut along the cells: so many rows at most.
  const int n_rows = too_many_to_split(b.n_threads) * most_vectors * lanes;
  for (int n = std::min(shape.n_tokens, divided_up(n_rows, shape.n_heads)); n >= 1; --n) {
    shape.n_tokens = n;
    most =
        std::max(most, cut_attention(shape, n_places, n_threads, lanes, most_vectors).n_floats());
  }
  return most;
}

}  // namespace swarmkv::internal
