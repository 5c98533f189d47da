#include "api/plan_tree.h"

#include <algorithm>

namespace swarmkv::internal {
namespace {

// How far `prompt` agrees with the node's span, as a position.
int common_end(const PlanTree::Node& node, const Tokens& prompt) {
  const int n = std::min(node.end, static_cast<int>(prompt.size()));
  if (node.tokens.get() == &prompt) return n;
  const auto begin = prompt.begin() + node.begin;
  const auto end = std::mismatch(begin, prompt.begin() + n, node.tokens->begin() + node.begin);
  return static_cast<int>(end.first - prompt.begin());
}

}  // namespace

PlanTree::Spot PlanTree::find(const Tokens& prompt) const {
  const int n_prompt = static_cast<int>(prompt.size());
  Spot base, longest;
  const auto consider = [](Spot& best, int node, int at) {
    if (at > best.n) best = {node, at};
  };
  std::vector<int> open{-1};
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    const int end = node < 0 ? 0 : nodes_[static_cast<std::size_t>(node)].end;
    consider(base, node, end);
    if (end >= n_prompt) continue;
    for (const int child : children_of(node)) {
      const Node& candidate = nodes_[static_cast<std::size_t>(child)];
      const int to = common_end(candidate, prompt);
      if (to == end) continue;
      if (to == n_prompt) consider(base, child, to);  // its own declared end
      if (to == candidate.end) {
        open.push_back(child);
      } else {
        consider(longest, child, to);
      }
    }
  }
  return longest.n - base.n >= min_gain_ ? longest : base;
}

// Answers a node that ends at the spot. The lower part keeps its number: prompts end there.
int PlanTree::cut_at(Spot spot) {
  if (spot.node < 0 || nodes_[static_cast<std::size_t>(spot.node)].end == spot.n) return spot.node;
  const int upper = static_cast<int>(nodes_.size());
  nodes_.push_back(nodes_[static_cast<std::size_t>(spot.node)]);
  Node& lower = nodes_[static_cast<std::size_t>(spot.node)];
  Node& above = nodes_.back();
  above.end = spot.n;
  above.children = {spot.node};
  lower.begin = spot.n;
  lower.parent = upper;
  std::vector<int>& siblings = children_of(above.parent);
  std::replace(siblings.begin(), siblings.end(), spot.node, upper);
  return upper;
}

int PlanTree::add(const std::shared_ptr<const Tokens>& prompt, std::span<const int> cuts) {
  const int n_prompt = static_cast<int>(prompt->size());
  const Spot spot = find(*prompt);
  int node = cut_at(spot);
  std::vector<int> ends(cuts.begin(), cuts.end());
  ends.push_back(n_prompt);
  std::sort(ends.begin(), ends.end());
  int begin = spot.n;
  for (const int end : ends) {
    if (end <= begin || end > n_prompt) continue;
    const int child = static_cast<int>(nodes_.size());
    nodes_.push_back({node, begin, end, prompt, {}});
    children_of(node).push_back(child);
    node = child;
    begin = end;
  }
  return node;
}

int PlanTree::n_tokens() const {
  int n = 0;
  for (const Node& node : nodes_) n += node.end - node.begin;
  return n;
}

std::vector<int> PlanTree::in_order() const {
  std::vector<int> order, open(roots_.rbegin(), roots_.rend());
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    order.push_back(node);
    const std::vector<int>& children = children_of(node);
    open.insert(open.end(), children.rbegin(), children.rend());
  }
  return order;
}

}  // namespace swarmkv::internal
