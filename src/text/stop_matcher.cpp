#include "text/stop_matcher.h"

namespace swarmkv::internal {

StopMatcher::StopMatcher(const std::vector<std::string>& patterns) {
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (!patterns[i].empty()) insert(patterns[i], i);
  }
  link();
}

std::optional<std::size_t> StopMatcher::child(std::size_t node, char byte) const {
  for (const auto& [c, index] : nodes_[node].children) {
    if (c == byte) return index;
  }
  return std::nullopt;
}

std::size_t StopMatcher::next(std::size_t node, char byte) const {
  for (;; node = nodes_[node].fallback) {
    if (const auto found = child(node, byte)) return *found;
    if (node == 0) return 0;
  }
}

void StopMatcher::insert(const std::string& pattern, std::size_t index) {
  std::size_t node = 0;
  for (const char byte : pattern) {
    auto found = child(node, byte);
    if (!found) {
      found = nodes_.size();
      nodes_[node].children.emplace_back(byte, *found);
      nodes_.emplace_back();
      nodes_.back().depth = nodes_[node].depth + 1;
    }
    node = *found;
  }
  if (!nodes_[node].match) nodes_[node].match = index;
}

// Breadth first, because a fallback is always shorter than the node it belongs to.
void StopMatcher::link() {
  std::vector<std::size_t> order = {0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t parent = order[i];
    for (const auto& [byte, node] : nodes_[parent].children) {
      order.push_back(node);
      if (parent != 0) nodes_[node].fallback = next(nodes_[parent].fallback, byte);
      if (!nodes_[node].match) nodes_[node].match = nodes_[nodes_[node].fallback].match;
    }
  }
}

std::optional<std::size_t> StopMatcher::step(char byte) {
  state_ = next(state_, byte);
  return nodes_[state_].match;
}

}  // namespace swarmkv::internal
