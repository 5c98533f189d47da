#include "kv/prefix_tree.h"

#include <cassert>
#include <utility>

namespace swarmkv::internal {

PrefixTree::PrefixTree(Context& context, ForkKind kind, CellPool& cells, SeqPool& seqs)
    : context_(context), kind_(kind), cells_(cells), seqs_(seqs) {}

PrefixTree::~PrefixTree() { drop_nodes(); }

// Level by level: a document may declare every token a fork point, and recursion would not survive
// such a chain.
void PrefixTree::drop_nodes() {
  idle_leaves_.clear();
  std::vector<std::unique_ptr<PrefixNode>> open;
  const auto take_children = [&](PrefixNode& node) {
    for (auto& [token, child] : node.children) open.push_back(std::move(child));
    node.children.clear();
  };
  take_children(root_);
  while (!open.empty()) {
    const std::unique_ptr<PrefixNode> node = std::move(open.back());
    open.pop_back();
    take_children(*node);
  }
}

PrefixNode* PrefixTree::add(PrefixNode* parent, Tokens span) {
  assert(!span.empty());
  auto node = std::make_unique<PrefixNode>();
  node->parent = parent;
  node->start = node->n_computed = parent->end();
  node->span = std::move(span);
  node->last_use = ++clock_;
  n_cells_reserved_ += static_cast<int>(node->span.size());
  ++n_nodes_;
  PrefixNode* added = node.get();
  parent->children.emplace(added->span.front(), std::move(node));
  relist(parent);
  relist(added);
  return added;
}

PrefixNode* PrefixTree::extend(PrefixNode* parent, Tokens span) {
  const bool reserved = cells_.try_reserve(static_cast<int>(span.size()));
  assert(reserved);
  (void)reserved;
  return add(parent, std::move(span));
}

PrefixNode* PrefixTree::adopt(PrefixNode* base, Tokens span, int n_computed, SeqId seq) {
  PrefixNode* node = add(base, std::move(span));
  node->n_computed = n_computed;
  n_cells_used_ += n_computed - node->start;
  node->holder = seq;
  node->released_early = true;
  if (seq == kNoSeq || kind_ != ForkKind::kFull) return node;
  // From now on this sequence serves for all of its path.
  for (PrefixNode* above = base; above != nullptr; above = above->parent) {
    give_back(std::exchange(above->holder, kNoSeq));
  }
  return node;
}

PrefixNode* PrefixTree::split(PrefixNode* node, int at) {
  if (at == node->end()) return node;
  assert(node->start < at && at < node->end());
  auto upper = std::make_unique<PrefixNode>();
  const auto n_upper = static_cast<std::ptrdiff_t>(at - node->start);
  upper->parent = node->parent;
  upper->span.assign(node->span.begin(), node->span.begin() + n_upper);
  upper->start = node->start;
  upper->n_computed = std::min(at, node->n_computed);
  upper->last_use = node->last_use;
  const double share =
      node->n_computed == node->start
          ? 0
          : static_cast<double>(upper->n_computed - node->start) / (node->n_computed - node->start);
  upper->compute_ms = share * node->compute_ms;
  node->compute_ms -= upper->compute_ms;
  upper->released_early = node->released_early;

  auto& siblings = node->parent->children;
  auto it = siblings.find(node->span.front());
  while (it->second.get() != node) ++it;
  std::unique_ptr<PrefixNode> lower = std::move(it->second);
  siblings.erase(it);

  lower->span.erase(lower->span.begin(), lower->span.begin() + n_upper);
  lower->start = at;
  lower->parent = upper.get();
  // The sequence goes with the deepest computed token; a lower half without any has nothing to
  // hold.
  if (lower->n_computed <= at) {
    lower->n_computed = at;
    upper->holder = std::exchange(lower->holder, kNoSeq);
  }
  PrefixNode* result = upper.get();
  upper->children.emplace(lower->span.front(), std::move(lower));
  siblings.emplace(result->span.front(), std::move(upper));
  ++n_nodes_;
  return result;
}

void PrefixTree::touch(PrefixNode* node) {
  ++clock_;
  for (PrefixNode* n = node; n != nullptr; n = n->parent) n->last_use = clock_;
  relist(node);  // those above are no leaves
}

void PrefixTree::pin(PrefixNode* node) {
  ++node->n_pins;
  touch(node);
}

void PrefixTree::unpin(PrefixNode* node) {
  assert(node->n_pins > 0);
  --node->n_pins;
  relist(node);
  settle(node);
}

void PrefixTree::keep(PrefixNode* node, std::uint64_t id) {
  node->kept_for.push_back(id);
  touch(node);
}

void PrefixTree::let_go(std::uint64_t id) {
  PrefixNode* kept = nullptr;
  for_each([&](PrefixNode* node) {
    if (std::erase(node->kept_for, id) > 0) kept = node;
  });
  if (kept != nullptr) settle(kept);
}

void PrefixTree::forget_all() {
  for_each([&](PrefixNode* node) {
    assert(node->n_pins == 0);
    if (node->holder != kNoSeq) seqs_.give_back(node->holder);
  });
  drop_nodes();
  cells_.give_back(n_cells_reserved_);
  n_cells_reserved_ = n_cells_used_ = n_nodes_ = 0;
}

void PrefixTree::let_go_of_cache() {
  for_each([&](PrefixNode* node) {
    node->holder = kNoSeq;
    uncompute(node);
  });
}

}  // namespace swarmkv::internal
