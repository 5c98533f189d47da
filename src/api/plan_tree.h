// The prefix tree that a run will make of prompts known beforehand.
//
//   root -- contract [0, 4000) -+- rest of it [4000, 41237) -- annex [41237, 41749)
//                               +- (an agent that starts early: no node of its own)
//
// The rules are those of the live tree (kv/prefix_tree.h, PrefixTree::match), without its cells,
// ids and progress: so the sum of the spans is what a run computes if nothing has to go meanwhile.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/types.h"

namespace swarmkv::internal {

class PlanTree {
 public:
  struct Node {
    int parent = -1;  ///< index into nodes(), -1 = root
    int begin = 0, end = 0;
    std::shared_ptr<const Tokens> tokens;  ///< the prompt it was made for: its span is [begin, end)
    std::vector<int> children;
  };

  /// A common beginning inside of a node counts from `min_gain` tokens on, else only where a prompt
  /// declares a point.
  explicit PlanTree(int min_gain) : min_gain_(min_gain) {}

  /// Adds what `prompt` has and the tree has not, cut at those of `cuts` that lie in it. Answers
  /// the node that ends where the prompt does; -1 for a prompt without tokens. The number stays
  /// right when nodes are split later.
  int add(const std::shared_ptr<const Tokens>& prompt, std::span<const int> cuts);

  /// In the order of their making: a parent may stand behind its children.
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] int n_tokens() const;
  /// Numbers of all nodes, parents before children, else as they were made.
  [[nodiscard]] std::vector<int> in_order() const;

 private:
  struct Spot {
    int node = -1, n = 0;
  };
  [[nodiscard]] Spot find(const Tokens& prompt) const;
  int cut_at(Spot spot);

  std::vector<int>& children_of(int node) {
    return node < 0 ? roots_ : nodes_[static_cast<std::size_t>(node)].children;
  }
  [[nodiscard]] const std::vector<int>& children_of(int node) const {
    return node < 0 ? roots_ : nodes_[static_cast<std::size_t>(node)].children;
  }

  const int min_gain_;
  std::vector<Node> nodes_;
  std::vector<int> roots_;
};

}  // namespace swarmkv::internal
