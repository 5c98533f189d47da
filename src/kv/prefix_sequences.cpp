// Which sequence owns a node's cells, and how they are computed, shared and repaired.
#include <cassert>
#include <utility>

#include "kv/prefix_tree.h"

namespace swarmkv::internal {

SeqId PrefixTree::source_of(const PrefixNode* node) const {
  std::vector<const PrefixNode*> open{node};
  while (!open.empty()) {
    const PrefixNode* n = open.back();
    open.pop_back();
    if (n->holder != kNoSeq) return n->holder;
    if (kind_ == ForkKind::kRecurrent) break;
    for (const auto& [token, child] : n->children) open.push_back(child.get());
  }
  return kNoSeq;
}

int PrefixTree::n_holders_for(const PrefixNode* parent, std::size_t n_nodes) const {
  if (n_nodes == 0) return 0;
  if (kind_ == ForkKind::kRecurrent) return static_cast<int>(n_nodes);
  return parent->holder != kNoSeq ? 0 : 1;  // a row of nodes hands one sequence down
}

PrefixTree::Ready PrefixTree::prepare_to_compute(PrefixNode* node) {
  if (node->holder != kNoSeq) return Ready::kYes;
  PrefixNode* parent = node->parent;
  assert(parent->ready());
  // Where any descendant's sequence serves as a source, the parent's own one simply goes on.
  if (kind_ != ForkKind::kRecurrent && parent->holder != kNoSeq) {
    node->holder = std::exchange(parent->holder, kNoSeq);
    return Ready::kYes;
  }
  const SeqId seq = seqs_.acquire();
  if (seq == kNoSeq) return Ready::kNoSequence;
  if (!fork(parent, seq)) {
    seqs_.give_back(seq);
    return Ready::kCannotFork;
  }
  node->holder = seq;
  return Ready::kYes;
}

void PrefixTree::computed(PrefixNode* node, int n) {
  node->n_computed += n;
  n_cells_used_ += n;
  assert(node->n_computed <= node->end());
}

bool PrefixTree::fork(PrefixNode* node, SeqId target) {
  if (node == &root_) return true;
  const SeqId source = source_of(node);
  if (source == kNoSeq || !context_.can_fork(source, node->end())) return false;
  context_.fork(source, target, node->end());
  return true;
}

void PrefixTree::uncompute(PrefixNode* node) {
  n_cells_used_ -= node->n_computed - node->start;
  node->n_computed = node->start;
}

void PrefixTree::repair(PrefixNode* node) {
  if (node->holder == kNoSeq || context_.length(node->holder) == node->n_computed) return;
  if (context_.length(node->holder) > node->n_computed &&
      context_.truncate(node->holder, node->n_computed)) {
    return;
  }
  if (kind_ != ForkKind::kRecurrent && context_.can_fork(node->holder, node->start) &&
      context_.truncate(node->holder, node->start)) {
    uncompute(node);
    return;
  }
  context_.release(node->holder);
  seqs_.give_back(std::exchange(node->holder, kNoSeq));
  uncompute(node);
}

}  // namespace swarmkv::internal
