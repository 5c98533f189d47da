// The read-only half of the prefix tree: finding the best fork point, and proving the tree sound.
#include <algorithm>
#include <string>
#include <unordered_map>

#include "kv/prefix_tree.h"

namespace swarmkv::internal {

bool PrefixTree::forkable(const PrefixNode* node, int at) const {
  if (node == &root_) return true;
  switch (kind_) {
    case ForkKind::kFull:
      return true;
    case ForkKind::kWindow:
      if (at > node->n_computed) return true;  // asked again when it is computed
      return source_of(node, at) != kNoSeq;
    case ForkKind::kRecurrent:
      // A state cannot be rewound: only where one is frozen, or will be if the node is split before
      // it gets there.
      return at == node->end() || at >= node->n_computed;
  }
  return false;
}

PrefixTree::Match PrefixTree::match(const PromptView& prompt, int limit, int declared, int min_gain,
                                    std::vector<PrefixNode*>* matched) const {
  auto* root = const_cast<PrefixNode*>(&root_);
  Match base{root, 0};     // best node end, or the declared point
  Match longest{root, 0};  // best point anywhere
  int reached = 0;         // deepest equal token, forkable or not

  const auto consider = [&](Match& best, PrefixNode* node, int at) {
    if (at > best.n && forkable(node, at)) best = {node, at};
  };
  std::vector<PrefixNode*> open{root};
  while (!open.empty()) {
    PrefixNode* node = open.back();
    open.pop_back();
    const int end = node->end();
    consider(base, node, end);
    if (matched != nullptr) matched->push_back(node);
    if (end >= limit) continue;
    const auto [first, last] = node->children.equal_range(prompt[end]);
    for (auto it = first; it != last; ++it) {
      PrefixNode* child = it->second.get();
      const int to = end + prompt.common(end, limit, child->span);
      reached = std::max(reached, to);
      if (declared > end && declared <= to) consider(base, child, declared);
      if (to == child->end()) {
        open.push_back(child);
      } else {
        consider(longest, child, to);
      }
    }
  }
  Match best = longest.n - base.n >= min_gain ? longest : base;
  best.fell_back = reached - best.n >= min_gain || (declared <= reached && best.n < declared);
  return best;
}

void PrefixTree::clear_wanted() {
  for_each([](PrefixNode* node) { node->wanted = 0; });
}

int PrefixTree::n_unstarted() const {
  // Where sequences are handed down, the first child of a node goes on with what the node has, or
  // will have.
  std::unordered_map<const PrefixNode*, int> below;
  for_each([&](const PrefixNode* node) {
    if (!node->ready() && node->holder == kNoSeq) ++below[node->parent];
  });
  int n = 0;
  for (const auto& [parent, n_children] : below) {
    const bool hands_down = kind_ != ForkKind::kRecurrent && parent != &root_ &&
                            (parent->holder != kNoSeq || !parent->ready());
    n += n_children - (hands_down ? 1 : 0);
  }
  return n;
}

bool PrefixTree::matches_cache() const {
  bool matches = true;
  for_each([&](const PrefixNode* node) {
    if (node->holder != kNoSeq) matches &= context_.length(node->holder) == node->n_computed;
  });
  return matches;
}

void PrefixTree::check_integrity() const {
  const auto require = [](bool holds, const PrefixNode* node, const char* what) {
    if (holds) return;
    throw Error(ErrorCode::kInternal, "[kv.check_integrity] node [" + std::to_string(node->start) +
                                          ", " + std::to_string(node->end()) + "): " + what);
  };
  int n_reserved = 0, n_used = 0, n_nodes = 0;
  std::size_t n_idle = 0;
  for_each([&](PrefixNode* node) {
    const PrefixNode* parent = node->parent;
    ++n_nodes;
    n_reserved += static_cast<int>(node->span.size());
    n_used += node->n_computed - node->start;
    require(!node->span.empty(), node, "empty span");
    require(node->start == parent->end(), node, "does not start at its parent's end");
    require(node->start <= node->n_computed && node->n_computed <= node->end(), node,
            "computed range is outside its span");
    require(node->n_computed == node->start || parent->ready(), node, "computed before its parent");
    require(node->n_pins >= 0, node, "negative pin count");
    const bool is_idle = node->children.empty() && node->n_pins == 0;
    n_idle += is_idle ? 1 : 0;
    require(!is_idle || idle_leaves_.count({node->last_use, node}) == 1, node,
            "is idle and not in the list of idle leaves");
    require(!node->kept() || node->ready(), node, "is kept before it is computed");
    if (node->n_computed > node->start && kind_ != ForkKind::kWindow) {
      require(source_of(node) != kNoSeq, node, "no sequence owns its cells");
    }
    if (node->holder != kNoSeq) {
      require(context_.length(node->holder) == node->n_computed, node,
              "its sequence's length differs from what is computed");
    }
  });
  constexpr unsigned kPinned = 1, kHasHolder = 2;
  for_each_up([&](const PrefixNode* node, unsigned below) {
    const unsigned pinned = node->n_pins > 0 ? kPinned : below & kPinned;
    require(node->ready() || pinned != 0, node, "is being computed for nobody");
    const bool is_spare = node->holder != kNoSeq && (below & kHasHolder) != 0;
    require(!is_spare || kind_ != ForkKind::kFull, node, "has a sequence that nobody needs");
    return pinned | (below & kHasHolder) | (node->holder != kNoSeq ? kHasHolder : 0U);
  });
  require(n_idle == idle_leaves_.size(), &root_, "the list of idle leaves is too long");
  require(n_reserved == n_cells_reserved_, &root_, "reserved cells differ from the sum of spans");
  require(n_used == n_cells_used_, &root_, "used cells differ from the sum of computed spans");
  require(n_nodes == n_nodes_, &root_, "node count is wrong");
}

}  // namespace swarmkv::internal
