// The live KV cache as a tree of token spans, including spans that are still being computed.
//
//   root [0, 0)
//     +- contract [0, 3684)  ready             no holder needed: any descendant's sequence serves
//          +- annex [3684, 5000)  to 4196      holder 3: owns the cells of the whole path [0, 4196)
//          +- (branches: private tails of running requests, not in the tree)
//
// Invariants, checked by check_integrity():
//
//  1. start <= n_computed <= end; a node has computed tokens only if its parent is ready.
//
//  2. A node with computed tokens can be forked: it or (full, window) some descendant has a holder
//     that owns its path, and a holder's length in the cache is its node's n_computed. Window
//     models may lose that while branches still use the cells: such a node is matched no more and
//     goes with its last pin.
//
//  3. Recurrent: every node with computed tokens has its own holder, whose state stands at
//     n_computed.
//
//  4. Full: a node has a holder only if no descendant has one. Window: such a spare one stays, as
//     it keeps the cells before the node's end from being recycled, until ids are short.
//
//  5. The cells reserved by the tree are the sum of its spans; a pinned node is never evicted.
//
//  6. A node that is not ready is pinned, or lies above a pinned one.
//
//  7. A kept node is ready.
//
//  8. The list of idle leaves holds every leaf without pins, by last use, and nothing else.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "engine/context.h"
#include "kv/cell_pool.h"
#include "kv/prefix_node.h"
#include "kv/prompt_view.h"
#include "kv/seq_pool.h"

namespace swarmkv::internal {

class PrefixTree {
 public:
  PrefixTree(Context& context, ForkKind kind, CellPool& cells, SeqPool& seqs);
  ~PrefixTree();
  PrefixTree(const PrefixTree&) = delete;
  PrefixTree& operator=(const PrefixTree&) = delete;

  /// A point of the tree: `n` tokens, the last of them inside (or at the end of) `node`.
  struct Match {
    PrefixNode* node = nullptr;
    int n = 0;
    bool fell_back = false;  ///< a longer match exists, but this model cannot fork there
  };

  /// The best point to fork `prompt` from, at most `limit` tokens deep. Node ends always count; a
  /// point inside a node counts at `declared` (the end of the request's own document) or if it
  /// gains `min_gain` tokens over the best node end. Tokens are compared one by one.
  ///
  /// out   matched: if given, every node whose whole span is matched, the root first
  /// cost  O(matched tokens), no change
  [[nodiscard]] Match match(const PromptView& prompt, int limit, int declared, int min_gain,
                            std::vector<PrefixNode*>* matched = nullptr) const;

  /// Makes `at` a node end: the upper half is returned. No-op at the node's own end.
  PrefixNode* split(PrefixNode* node, int at);

  /// Adds a node to be computed; its cells must be free (reserved here).
  PrefixNode* extend(PrefixNode* parent, Tokens span);

  void pin(PrefixNode* node);
  /// The last unpin makes what was not computed yet disappear and may remove the node itself
  /// (released_early).
  void unpin(PrefixNode* node);

  /// Sequences that `n_nodes` new nodes in a row below `parent` will ask for.
  [[nodiscard]] int n_holders_for(const PrefixNode* parent, std::size_t n_nodes) const;

  enum class Ready { kYes, kNoSequence, kCannotFork };
  /// Gives the node, whose parent is ready, the sequence to compute in.
  [[nodiscard]] Ready prepare_to_compute(PrefixNode* node);

  /// `n` more tokens of the node are in its holder's sequence.
  void computed(PrefixNode* node, int n);

  /// Forks the ready node's path [0, end) into the empty sequence `target`. False: the model cannot
  /// (any more).
  [[nodiscard]] bool fork(PrefixNode* node, SeqId target);

  /// Turns the first part of a branch's private cells into a node below `base`: it takes `seq`,
  /// which owns [0, n_computed), as its holder, and the branch's reservation of the span's cells.
  PrefixNode* adopt(PrefixNode* base, Tokens span, int n_computed, SeqId seq);

  /// A node below the root that is there as a whole: its state was loaded into `seq`, which becomes
  /// its holder. Its cells must be free (reserved here).
  PrefixNode* add_ready(Tokens span, SeqId seq);

  /// A sequence that owns the node's path up to `at` and can be forked there, or kNoSeq. `at` is
  /// computed.
  [[nodiscard]] SeqId source_of(const PrefixNode* node, int at) const;

  /// What request `id` left stays until let_go(id), or until nothing else can make room.
  void keep(PrefixNode* node, std::uint64_t id);
  void let_go(std::uint64_t id);  ///< cost: whole tree

  struct Evictable {
    int n_cells = 0, n_seqs = 0;
  };
  /// What evictions could free now. cost: whole tree
  [[nodiscard]] Evictable evictable(Sparing sparing) const;
  /// Pinned nodes that will still ask for a sequence of their own. cost: whole tree
  [[nodiscard]] int n_unstarted() const;

  /// Evicts one unpinned leaf that is not spared: least recently used first, of wanted ones the one
  /// that is wanted last. False: there is none.
  bool evict_one(Sparing sparing);
  /// Evicts what gives one sequence id back, in the same order: a leaf, and with it the nodes above
  /// that are left without a sequence. False: there is nothing, and nothing was done.
  /// cost: the idle leaves and their ways up
  bool evict_for_sequence(Sparing sparing);
  /// Window models: gives back the sequence of one node that descendants can serve for. It is not
  /// lost, only less safe. False: there is none. cost: whole tree
  bool give_back_spare_holder();
  void clear_wanted();

  /// After a forward that failed: makes the node's sequence hold exactly [0, n_computed) again.
  /// Where the model cannot cut, the node starts over.
  void repair(PrefixNode* node);

  /// Every holder's sequence has the length our books say. cost: whole tree
  [[nodiscard]] bool matches_cache() const;

  /// Forgets every node without touching the cache; for use after Context::clear() and with nothing
  /// pinned.
  void forget_all();

  /// The cache is lost and must not be touched any more: no node has a sequence or a computed token
  /// from now on. The sequence ids are not given back.
  void let_go_of_cache();

  [[nodiscard]] PrefixNode* root() { return &root_; }
  [[nodiscard]] int n_nodes() const { return n_nodes_; }
  [[nodiscard]] int n_cells_reserved() const { return n_cells_reserved_; }
  [[nodiscard]] int n_cells_used() const { return n_cells_used_; }
  [[nodiscard]] int n_evictions() const { return n_evictions_; }

  /// Throws kInternal naming the first invariant that does not hold. cost: whole tree
  void check_integrity() const;

 private:
  [[nodiscard]] SeqId take_out(PrefixNode* leaf);
  void uncompute(PrefixNode* node);
  void settle(PrefixNode* node, SeqId carried = kNoSeq);
  void hand_up(SeqId seq, PrefixNode* node);
  void give_back(SeqId seq);
  void drop_nodes();
  void relist(PrefixNode* node);
  [[nodiscard]] PrefixNode* top_of_way_to_a_sequence(PrefixNode* leaf, Sparing sparing) const;
  template <typename Visit>
  void for_each(Visit visit) const;
  template <typename Visit>
  void for_each_up(Visit visit) const;
  PrefixNode* add(PrefixNode* parent, Tokens span);
  [[nodiscard]] bool serves(SeqId seq, int at) const;
  [[nodiscard]] SeqId source_of(const PrefixNode* node) const {
    return source_of(node, node->n_computed);
  }
  [[nodiscard]] bool has_other_source(const PrefixNode* node, const PrefixNode* but) const;
  [[nodiscard]] bool forkable(const PrefixNode* node, int at) const;
  void touch(PrefixNode* node);

  Context& context_;
  ForkKind kind_;
  CellPool& cells_;
  SeqPool& seqs_;
  PrefixNode root_;
  std::set<std::pair<std::uint64_t, PrefixNode*>> idle_leaves_;  ///< by last use
  std::uint64_t clock_ = 0;
  int n_nodes_ = 0;
  int n_cells_reserved_ = 0, n_cells_used_ = 0;
  int n_evictions_ = 0;
};

// Every node but the root, parents before children.
template <typename Visit>
void PrefixTree::for_each(Visit visit) const {
  std::vector<PrefixNode*> open{const_cast<PrefixNode*>(&root_)};
  while (!open.empty()) {
    PrefixNode* node = open.back();
    open.pop_back();
    if (node != &root_) visit(node);
    for (const auto& [token, child] : node->children) open.push_back(child.get());
  }
}

// Every node but the root, children before parents; `visit` gets what it answered for the children,
// or-ed together.
template <typename Visit>
void PrefixTree::for_each_up(Visit visit) const {
  std::vector<PrefixNode*> order;
  for_each([&](PrefixNode* node) {
    node->below = 0;
    order.push_back(node);
  });
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    (*it)->parent->below |= visit(*it, (*it)->below);
  }
}

}  // namespace swarmkv::internal
