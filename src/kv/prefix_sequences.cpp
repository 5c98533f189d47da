// Which sequence owns a node's cells, and how they are computed, shared and repaired.
#include <cassert>
#include <utility>

#include "kv/prefix_tree.h"

namespace swarmkv::internal {

// Whether a sequence that owns a path can be forked at a point of it.
bool PrefixTree::serves(SeqId seq, int at) const {
  return kind_ != ForkKind::kWindow || context_.can_fork(seq, at);
}

// A sequence that owns the node's path up to `at`, which is computed, and can be forked there.
SeqId PrefixTree::source_of(const PrefixNode* node, int at) const {
  std::vector<const PrefixNode*> open{node};
  while (!open.empty()) {
    const PrefixNode* n = open.back();
    open.pop_back();
    if (n->holder != kNoSeq && serves(n->holder, at)) return n->holder;
    if (kind_ == ForkKind::kRecurrent) break;
    for (const auto& [token, child] : n->children) open.push_back(child.get());
  }
  return kNoSeq;
}

bool PrefixTree::has_other_source(const PrefixNode* node, const PrefixNode* but) const {
  if (node != but && node->holder != kNoSeq) return true;
  for (const auto& [token, child] : node->children) {
    if (child.get() != but && source_of(child.get(), node->n_computed) != kNoSeq) return true;
  }
  return false;
}

bool PrefixTree::give_back_spare_holder() {
  if (kind_ != ForkKind::kWindow) return false;  // full: there is none; recurrent: none is spare
  PrefixNode* spare = nullptr;
  const auto goes_first = [](const PrefixNode* a, const PrefixNode* b) {
    if (a->released_early != b->released_early) return a->released_early;  // documents last
    return a->last_use < b->last_use;
  };
  for_each([&](PrefixNode* node) {
    // Below a pinned node somebody may be about to go on with its sequence.
    if (node->holder == kNoSeq || node->n_pins > 0 || !has_other_source(node, node)) return;
    for (const auto& [token, child] : node->children) {
      if (child->holder == kNoSeq && !child->ready()) return;  // it will go on with this one
    }
    if (spare == nullptr || goes_first(node, spare)) spare = node;
  });
  if (spare == nullptr) return false;
  give_back(std::exchange(spare->holder, kNoSeq));
  return true;
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

PrefixNode* PrefixTree::add_ready(Tokens span, SeqId seq) {
  PrefixNode* node = extend(&root_, std::move(span));
  node->holder = seq;
  computed(node, static_cast<int>(node->span.size()));
  touch(node);
  return node;
}

bool PrefixTree::fork(PrefixNode* node, SeqId target) {
  if (node == &root_) return true;
  const SeqId source = source_of(node, node->end());
  if (source == kNoSeq || !context_.can_fork(source, node->end())) return false;
  context_.fork(source, target, node->end());
  return true;
}

void PrefixTree::uncompute(PrefixNode* node) {
  n_cells_used_ -= node->n_computed - node->start;
  node->n_computed = node->start;
  node->compute_ms = 0;
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
  give_back(std::exchange(node->holder, kNoSeq));
  uncompute(node);
}

}  // namespace swarmkv::internal
