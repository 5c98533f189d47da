// A node of the prefix tree: a span of tokens, how far it is computed, and who needs it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engine/types.h"

namespace swarmkv::internal {

struct PrefixNode {
  PrefixNode* parent = nullptr;
  std::multimap<Token, std::unique_ptr<PrefixNode>>
      children;  ///< by first token; twins are allowed
  Tokens span;
  int start = 0;
  int n_computed = 0;  ///< absolute: cells [start, n_computed) hold this span
  SeqId holder = kNoSeq;
  int n_pins = 0;         ///< admitted branches based exactly here
  double compute_ms = 0;  ///< what [start, n_computed) took; 0 = it was not computed here
  std::uint64_t last_use = 0;
  std::uint64_t listed_use = 0;  ///< last_use under which it is in the list of idle leaves; 0 = not
  /// Scratch of an eviction: the place in the queue, from 1, of the first that matches it; 0 =
  /// none.
  int wanted = 0;
  unsigned below = 0;           ///< scratch of a walk from the leaves up
  bool released_early = false;  ///< not a document: goes as soon as nothing is based on it
  std::vector<std::uint64_t>
      kept_for;  ///< finished requests whose conversation may go on from here

  [[nodiscard]] int end() const { return start + static_cast<int>(span.size()); }
  [[nodiscard]] bool ready() const { return n_computed == end(); }
  [[nodiscard]] bool kept() const { return !kept_for.empty(); }
};

/// What an eviction leaves alone besides pinned nodes. Each spares less than the one before it.
enum class Sparing {
  kWantedAndKept,  ///< what a waiting request matches, and conversations that may go on
  kWanted,
  kNothing
};

}  // namespace swarmkv::internal
