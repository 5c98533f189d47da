// Who computes attention for many tokens faster on this machine, ours or the runtime's own kernel:
// found by a short race, not by a guess.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attention/attention.h"

namespace swarmkv::internal {

/// From so many tokens on the runtime computes in tiles, too, and may be faster. Below it computes
/// row by row and has never been.
inline constexpr int kTokensOfTiledKernel = 64;

/// One layer's attention of 128 tokens that all see 1,024 cells.
struct AttentionSpeed {
  double grouped_ms = 0, stock_ms = 0;
};

/// Best of three runs each, in turns.
/// in  heads: of its sizes only those of the heads count; target: as GroupedAttention takes it
/// cost  8 runs, some 10 ms each for a model of 135 million weights on two cores
/// errors  std::bad_alloc
[[nodiscard]] AttentionSpeed race_attention(const AttentionShape& heads, std::string_view target,
                                            int n_threads);

/// The same, raced once for a processor, sizes and kernels and then remembered in `folder`, which
/// may be empty: then it is raced each time.
[[nodiscard]] AttentionSpeed known_attention_speed(const AttentionShape& heads,
                                                   std::string_view target, int n_threads,
                                                   const std::string& folder);

/// Two positive finite times, as known_attention_speed() writes them.
[[nodiscard]] std::optional<AttentionSpeed> parse_attention_speed(std::string_view text);

}  // namespace swarmkv::internal
