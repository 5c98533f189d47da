// How one attention call is cut into pieces of work, and how much room each needs.
//
// The rows of one key/value head are its tokens times the query heads of its group, one SIMD lane a
// row. A *block* is some vectors of rows of one head: its keys and values are read and converted
// once for all of them. A *tile* is 64 places of the layout.
//
// A row's result is the same bits however the call is cut: every score is one chain of
// multiply-adds over the head, every output element one chain over the visible cells in their
// order, and the maximum of a row is known before its first weight. So this file is free to choose.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention/attention.h"
#include "attention/layout.h"

namespace swarmkv::internal {

inline constexpr int kMostVectors = 4;  ///< of rows in a block

/// What the rows of a block see of a tile, one bit a place.
struct TileView {
  std::uint64_t live[kMostVectors] = {};  ///< places that some row of this vector sees
  std::uint64_t any = 0;                  ///< of all vectors
  bool dense = false;                     ///< computed for all vectors at once
  bool open = false;                      ///< every row sees every place, and the mask adds nothing
};

struct AttentionBlocks {
  AttentionShape shape;
  int n_threads = 1;
  int lanes = 1;
  int group = 1;          ///< query heads of a key/value head
  int n_rows = 0;         ///< of one key/value head
  int n_vectors = 0;      ///< vectors of rows of one head
  int block_vectors = 1;  ///< in a full block; the last of a head may have fewer
  int n_full = 0;         ///< full blocks of all heads
  int n_blocks = 0;       ///< of all heads
  int n_tiles = 0;
  /// True: a block is one piece of work from begin to end. False, for few rows and many threads:
  /// four phases, cut along the cells and along the elements of a head; every block then has room
  /// of its own.
  bool whole = true;
  int n_chunks = 1;  ///< pieces of a block's tiles
  int n_slices = 1;  ///< pieces of a block's head elements

  // Floats, all multiples of 16.
  std::size_t block_floats = 0, scratch_floats = 0;
  std::size_t at_scores = 0, at_most = 0, at_out = 0, at_views = 0;  ///< within a block's room
  std::size_t at_mask = 0, at_cells = 0;                             ///< within scratch

  [[nodiscard]] int n_phases() const { return whole ? 1 : 4; }
  [[nodiscard]] std::size_t n_floats() const {
    return block_floats * static_cast<std::size_t>(whole ? n_threads : n_blocks) +
           scratch_floats * static_cast<std::size_t>(n_threads);
  }
};

/// A block's key/value head, and its first vector of rows there. Full blocks come before narrow
/// ones, so that these even out the threads.
struct BlockPlace {
  int kv_head, vector;
};
[[nodiscard]] BlockPlace place_of_block(const AttentionBlocks& blocks, int index);

/// n_places: of the layout. most_vectors: what the target's registers hold, at most kMostVectors.
[[nodiscard]] AttentionBlocks cut_attention(const AttentionShape& shape, int n_places,
                                            int n_threads, int lanes, int most_vectors);

/// The most room, in floats, that calls of 1 to shape.n_tokens tokens need.
[[nodiscard]] std::size_t most_attention_floats(AttentionShape shape, int n_places, int n_threads,
                                                int lanes, int most_vectors);

}  // namespace swarmkv::internal
