// Making room: what goes first, and what its going gives back.
#include <algorithm>
#include <utility>

#include "kv/prefix_tree.h"

namespace swarmkv::internal {
namespace {

bool spares(Sparing sparing, const PrefixNode& node) {
  switch (sparing) {
    case Sparing::kWantedAndKept:
      return node.wanted > 0 || node.kept();
    case Sparing::kWanted:
      return node.wanted > 0;
    case Sparing::kNothing:
      return false;
  }
  return false;
}

/// How little harm it does to evict something: what nobody waits for, then what is wanted last,
/// then what was used least recently.
struct Harm {
  int wanted = 0;  ///< place in the queue; 0 = nobody waits for it
  std::uint64_t last_use = 0;

  [[nodiscard]] bool is_less_than(const Harm& other) const {
    if ((wanted == 0) != (other.wanted == 0)) return wanted == 0;
    if (wanted != other.wanted) return wanted > other.wanted;
    return last_use < other.last_use;
  }
};

// Of a leaf and everything above it up to `top`.
Harm harm_of(const PrefixNode* leaf, const PrefixNode* top) {
  Harm harm{0, top->last_use};  // no node was used later than those above it
  for (const PrefixNode* node = leaf; node != top->parent; node = node->parent) {
    if (node->wanted == 0) continue;
    harm.wanted = harm.wanted == 0 ? node->wanted : std::min(harm.wanted, node->wanted);
  }
  return harm;
}

}  // namespace

PrefixTree::Evictable PrefixTree::evictable(Sparing sparing) const {
  // Leaves go first, so a node can go only if nothing below it has to stay. Of the sequences of
  // those that go, one passes to each that stays and is left without.
  constexpr unsigned kStays = 1, kHasSequence = 2;
  Evictable out;
  for_each_up([&](const PrefixNode* node, unsigned below) {
    const bool stays = (below & kStays) != 0 || node->n_pins > 0 || spares(sparing, *node);
    if (!stays) {
      out.n_cells += static_cast<int>(node->span.size());
      out.n_seqs += node->holder != kNoSeq ? 1 : 0;
      return 0U;
    }
    const bool has_sequence = (below & kHasSequence) != 0 || node->holder != kNoSeq;
    const bool inherits =
        !has_sequence && node->n_computed > node->start && kind_ != ForkKind::kRecurrent;
    if (inherits) --out.n_seqs;
    return kStays | (has_sequence || inherits ? kHasSequence : 0U);
  });
  return out;
}

bool PrefixTree::evict_one(Sparing sparing) {
  PrefixNode* victim = nullptr;
  for (const auto& [use, leaf] : idle_leaves_) {
    if (spares(sparing, *leaf)) continue;
    if (victim == nullptr || harm_of(leaf, leaf).is_less_than(harm_of(victim, victim))) {
      victim = leaf;
    }
    if (victim->wanted == 0) break;  // the list begins with what was used least recently
  }
  if (victim == nullptr) return false;
  ++n_evictions_;
  PrefixNode* parent = victim->parent;
  settle(parent, take_out(victim));
  return true;
}

bool PrefixTree::evict_for_sequence(Sparing sparing) {
  PrefixNode* victim = nullptr;
  PrefixNode* top_of_victim = nullptr;
  Harm least;
  for (const auto& [use, leaf] : idle_leaves_) {
    PrefixNode* top = top_of_way_to_a_sequence(leaf, sparing);
    if (top == nullptr) continue;
    const Harm harm = harm_of(leaf, top);
    if (victim != nullptr && !harm.is_less_than(least)) continue;
    victim = leaf;
    top_of_victim = top;
    least = harm;
  }
  if (victim == nullptr) return false;
  PrefixNode* const stays = top_of_victim->parent;
  SeqId carried = kNoSeq;
  for (PrefixNode* node = victim; node != stays;) {
    PrefixNode* parent = node->parent;
    const SeqId own = take_out(node);
    if (own != kNoSeq) give_back(std::exchange(carried, own));
    ++n_evictions_;
    node = parent;
  }
  settle(stays, carried);
  return true;
}

// The uppermost node that has to go with the leaf so that its sequence becomes free, or null: what
// stays without a sequence would inherit this one.
PrefixNode* PrefixTree::top_of_way_to_a_sequence(PrefixNode* leaf, Sparing sparing) const {
  if (leaf->holder == kNoSeq) return nullptr;
  for (PrefixNode* node = leaf;; node = node->parent) {
    if (node->n_pins > 0 || spares(sparing, *node)) return nullptr;
    const PrefixNode* parent = node->parent;
    if (kind_ == ForkKind::kRecurrent || parent == &root_) return node;
    if (has_other_source(parent, node)) return node;
    if (parent->children.size() > 1) return nullptr;  // it has to stay for them
  }
}

}  // namespace swarmkv::internal
