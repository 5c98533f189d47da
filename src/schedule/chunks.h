// Where a prompt is cut into forwards. Everybody who promises the same token ids as the scheduler
// cuts in the same places.
#pragma once

#include <algorithm>

#include "engine/types.h"

namespace swarmkv::internal {

inline constexpr int kFirstChunk = 128;  ///< so that progress shows early
inline constexpr int kGridSuffixRows =
    63;  ///< deterministic mode: one kernel for every row after the prefix

/// Tokens of the next forward of a prefix that is computed up to `n_computed` and has a cut at
/// `end`. `n_room`: what the forward has room for. `grid` > 0: deterministic mode.
inline int prefix_chunk(int n_computed, int end, int n_room, int grid) {
  const int n = std::min(end - n_computed, n_room);
  if (grid > 0) return std::min(n, grid - n_computed % grid);
  return n_computed == 0 ? std::min(n, kFirstChunk) : n;
}

/// Tokens of the next forward of what a request adds to its prefix.
inline int suffix_chunk(int n_to_feed, int n_room, bool deterministic, const BatchLimits& limits) {
  const bool one_kernel = deterministic && !limits.equal_lengths && !limits.consecutive_ids;
  const int n = std::min(n_to_feed, n_room);
  return one_kernel ? std::min(n, kGridSuffixRows) : n;
}

}  // namespace swarmkv::internal
