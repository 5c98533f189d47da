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
  n_cells_reserved_ += static_cast<int>(node->span.size());
  ++n_nodes_;
  PrefixNode* added = node.get();
  parent->children.emplace(added->span.front(), std::move(node));
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
}

void PrefixTree::pin(PrefixNode* node) {
  ++node->n_pins;
  touch(node);
}

void PrefixTree::unpin(PrefixNode* node) {
  assert(node->n_pins > 0);
  --node->n_pins;
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

// A node nobody waits for keeps what is computed and gives back the rest; going up, because the
// last waiter may have pinned only the deepest node of a chain. What no sequence can be forked from
// (a window was lost) goes.
void PrefixTree::settle(PrefixNode* node) {
  while (node != &root_ && node->n_pins == 0 && node->children.empty() && !node->kept()) {
    PrefixNode* parent = node->parent;
    if (node->released_early || source_of(node) == kNoSeq || node->n_computed == node->start) {
      remove_leaf(node);
    } else {
      const int n_left = node->end() - node->n_computed;
      node->span.resize(node->span.size() - static_cast<std::size_t>(n_left));
      cells_.give_back(n_left);
      n_cells_reserved_ -= n_left;
      return;
    }
    node = parent;
  }
}

void PrefixTree::remove_leaf(PrefixNode* node) {
  assert(node->children.empty() && node->n_pins == 0);
  PrefixNode* parent = node->parent;
  const SeqId holder = std::exchange(node->holder, kNoSeq);
  if (holder != kNoSeq) {
    // The parent's cells must stay owned: if this was the only sequence on its path, the parent
    // inherits it.
    const bool parent_needs_it =
        kind_ != ForkKind::kRecurrent && parent != &root_ && source_of(parent) == kNoSeq;
    if (parent_needs_it && context_.can_fork(holder, parent->end()) &&
        context_.truncate(holder, parent->end())) {
      parent->holder = holder;
    } else {
      context_.release(holder);
      seqs_.give_back(holder);
    }
  }
  const int n_span = static_cast<int>(node->span.size());
  cells_.give_back(n_span);
  n_cells_reserved_ -= n_span;
  n_cells_used_ -= node->n_computed - node->start;
  --n_nodes_;
  auto it = parent->children.find(node->span.front());
  while (it->second.get() != node) ++it;
  parent->children.erase(it);
}

PrefixNode* PrefixTree::first_unready(PrefixNode* node) {
  PrefixNode* first = nullptr;
  for (PrefixNode* n = node; n != nullptr; n = n->parent) {
    if (!n->ready()) first = n;
  }
  return first;
}

bool PrefixTree::spares(Sparing sparing, const PrefixNode& node) {
  switch (sparing) {
    case Sparing::kWantedAndKept:
      return node.wanted || node.kept();
    case Sparing::kWanted:
      return node.wanted;
    case Sparing::kNothing:
      return false;
  }
  return false;
}

bool PrefixTree::evict_one(Sparing sparing) {
  PrefixNode* victim = nullptr;
  for_each([&](PrefixNode* node) {
    if (!node->children.empty() || node->n_pins > 0) return;
    if (spares(sparing, *node)) return;
    if (victim == nullptr || node->last_use < victim->last_use) victim = node;
  });
  if (victim == nullptr) return false;
  ++n_evictions_;
  PrefixNode* parent = victim->parent;
  remove_leaf(victim);
  settle(parent);
  return true;
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
