// Finds the first of several strings in a stream of bytes, one byte at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace swarmkv::internal {

/// All patterns in one tree; each node is a beginning of a pattern, and its `fallback` the longest
/// proper suffix of it that is also one. So a byte never has to be looked at again: amortised
/// constant time.
class StopMatcher {
 public:
  /// Empty patterns never match.
  explicit StopMatcher(const std::vector<std::string>& patterns);

  /// Index of the longest pattern that ends with this byte, if any.
  std::optional<std::size_t> step(char byte);

  /// Length of the longest end of what was fed that may still become a match.
  [[nodiscard]] std::size_t n_open() const { return nodes_[state_].depth; }

 private:
  struct Node {
    std::vector<std::pair<char, std::size_t>> children;
    std::size_t fallback = 0, depth = 0;
    std::optional<std::size_t> match;
  };
  [[nodiscard]] std::optional<std::size_t> child(std::size_t node, char byte) const;
  [[nodiscard]] std::size_t next(std::size_t node, char byte) const;
  void insert(const std::string& pattern, std::size_t index);
  void link();

  std::vector<Node> nodes_{1};
  std::size_t state_ = 0;
};

}  // namespace swarmkv::internal
