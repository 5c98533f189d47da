// How nodes leave the tree, and what becomes of their sequences.
#include <cassert>
#include <utility>

#include "kv/prefix_tree.h"

namespace swarmkv::internal {

void PrefixTree::relist(PrefixNode* node) {
  if (node->listed_use != 0) idle_leaves_.erase({node->listed_use, node});
  const bool is_idle = node != &root_ && node->children.empty() && node->n_pins == 0;
  node->listed_use = is_idle ? node->last_use : 0;
  if (is_idle) idle_leaves_.emplace(node->last_use, node);
}

void PrefixTree::give_back(SeqId seq) {
  if (seq == kNoSeq) return;
  context_.release(seq);
  seqs_.give_back(seq);
}

// Takes a leaf without pins out of the tree. Answers its sequence, for which the caller finds a
// place.
SeqId PrefixTree::take_out(PrefixNode* leaf) {
  assert(leaf->children.empty() && leaf->n_pins == 0);
  if (leaf->listed_use != 0) idle_leaves_.erase({leaf->listed_use, leaf});
  const SeqId holder = leaf->holder;
  const int n_span = static_cast<int>(leaf->span.size());
  cells_.give_back(n_span);
  n_cells_reserved_ -= n_span;
  n_cells_used_ -= leaf->n_computed - leaf->start;
  --n_nodes_;
  PrefixNode* parent = leaf->parent;
  auto it = parent->children.find(leaf->span.front());
  while (it->second.get() != leaf) ++it;
  parent->children.erase(it);
  relist(parent);
  return holder;
}

// A node nobody waits for keeps what is computed and gives back the rest; going up, because the
// last waiter may have pinned only the deepest node of a chain. What no sequence can be forked from
// (a window was lost) goes. `carried`: a sequence without a node, which owns the path of this one.
void PrefixTree::settle(PrefixNode* node, SeqId carried) {
  while (node != &root_ && node->n_pins == 0 && node->children.empty() && !node->kept()) {
    const bool can_be_forked =
        source_of(node) != kNoSeq ||
        (carried != kNoSeq && kind_ != ForkKind::kRecurrent && serves(carried, node->n_computed));
    if (!node->released_early && can_be_forked && node->n_computed > node->start) {
      const int n_left = node->end() - node->n_computed;
      node->span.resize(node->span.size() - static_cast<std::size_t>(n_left));
      cells_.give_back(n_left);
      n_cells_reserved_ -= n_left;
      break;
    }
    PrefixNode* parent = node->parent;
    const SeqId own = take_out(node);
    if (own != kNoSeq) give_back(std::exchange(carried, own));
    node = parent;
  }
  hand_up(carried, node);
}

// The node's cells must stay owned: if this was the only sequence on its path, the node inherits
// it, cut back once, however many nodes went.
void PrefixTree::hand_up(SeqId seq, PrefixNode* node) {
  if (seq == kNoSeq) return;
  const bool is_needed =
      kind_ != ForkKind::kRecurrent && node != &root_ && source_of(node) == kNoSeq;
  if (is_needed && context_.can_fork(seq, node->n_computed) &&
      context_.truncate(seq, node->n_computed)) {
    give_back(std::exchange(node->holder, seq));
  } else {
    give_back(seq);
  }
}

}  // namespace swarmkv::internal
