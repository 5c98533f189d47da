// Making room for sequences: whose can be spared, and what has to go so that one becomes free.
#include <gtest/gtest.h>

#include "support/fork_kinds.h"
#include "support/texts.h"
#include "support/tree_rig.h"

namespace swarmkv::internal {
namespace {

/// A part of a branch's text that became a node, as after the end of a request that is continued.
PrefixNode* adopted(TreeRig& rig, PrefixNode* base, const std::string& text) {
  const SeqId seq = rig.seqs.acquire();
  EXPECT_TRUE(rig.tree.fork(base, seq));
  const Tokens tail = TreeRig::tokens(text);
  Batch batch;
  for (std::size_t i = 0; i < tail.size(); ++i) {
    batch.push_back({tail[i], base->end() + static_cast<int>(i), seq, false});
  }
  EXPECT_EQ(rig.context->forward(batch), ForwardStatus::kOk);
  EXPECT_TRUE(rig.cells.try_reserve(static_cast<int>(tail.size())));
  PrefixNode* node = rig.tree.adopt(base, tail, base->end() + static_cast<int>(tail.size()), seq);
  return node;
}

class EveryKindOfEviction : public ::testing::TestWithParam<ForkKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryKindOfEviction, every_fork_kind(), fork_kind_name);

//  document -- turn -- turn: full and window models need one sequence for all of it
TEST_P(EveryKindOfEviction, OfAChainOnlyTheLastNeedsASequence) {
  TreeRig rig(GetParam(), 4000, 16, 1000);
  PrefixNode* document = rig.ready(rig.tree.root(), letters(40, 1));
  PrefixNode* first = adopted(rig, document, letters(10, 2));
  rig.tree.keep(first, 1);
  PrefixNode* second = adopted(rig, first, letters(10, 3));
  rig.tree.keep(second, 2);
  rig.check();

  while (rig.tree.give_back_spare_holder()) rig.check();

  const int n_used = 16 - rig.seqs.n_free();
  EXPECT_EQ(n_used, GetParam() == ForkKind::kRecurrent ? 3 : 1);
  EXPECT_EQ(rig.forked_text(document), letters(40, 1));
  EXPECT_EQ(rig.forked_text(first), letters(40, 1) + letters(10, 2));
  EXPECT_EQ(rig.forked_text(second), letters(40, 1) + letters(10, 2) + letters(10, 3));
  rig.tree.let_go(1);
  rig.check();
  rig.tree.let_go(2);
  rig.check();
  EXPECT_EQ(rig.tree.n_nodes(), 1);
  EXPECT_EQ(rig.forked_text(document), letters(40, 1));
  EXPECT_EQ(rig.seqs.n_free(), 15);
}

TEST(SpareHolders, AWindowModelsDocumentIsTheLastToLoseItsOwn) {
  TreeRig rig(ForkKind::kWindow, 4000, 16, 1000);
  PrefixNode* document = rig.ready(rig.tree.root(), letters(40, 1));
  PrefixNode* turn = adopted(rig, document, letters(10, 2));
  rig.tree.keep(turn, 1);
  rig.tree.keep(adopted(rig, turn, letters(10, 3)), 2);

  ASSERT_TRUE(rig.tree.give_back_spare_holder());
  EXPECT_EQ(turn->holder, kNoSeq);
  EXPECT_NE(document->holder, kNoSeq);
  ASSERT_TRUE(rig.tree.give_back_spare_holder());
  EXPECT_EQ(document->holder, kNoSeq);
  EXPECT_FALSE(rig.tree.give_back_spare_holder());
  rig.check();
}

TEST(SpareHolders, AWindowThatADescendantHasLostIsNoSource) {
  TreeRig rig(ForkKind::kWindow, 4000, 16, 16);
  PrefixNode* document = rig.ready(rig.tree.root(), letters(40, 1));
  rig.model->faults().set_drop_outside_window(true);
  rig.tree.keep(adopted(rig, document, letters(30, 2)), 1);

  EXPECT_FALSE(rig.tree.give_back_spare_holder());
  EXPECT_EQ(rig.forked_text(document), letters(40, 1)) << "its own sequence still has the window";
}

//  contract -- annex (one sequence), other, pinned -- below
TEST(EvictForSequence, TakesAWholeWayOrNothing) {
  TreeRig rig;
  PrefixNode* contract = rig.ready(rig.tree.root(), letters(40, 1));
  PrefixNode* annex = rig.ready(contract, letters(20, 2));
  PrefixNode* pinned = rig.ready(rig.tree.root(), letters(40, 3));
  rig.ready(pinned, letters(20, 4));
  rig.tree.pin(pinned);
  const int n_free = rig.seqs.n_free();
  ASSERT_EQ(n_free, 14) << "one sequence a chain";
  EXPECT_EQ(rig.tree.evictable(Sparing::kNothing).n_seqs, 1) << "what is pinned needs the other";
  EXPECT_EQ(rig.tree.evictable(Sparing::kNothing).n_cells, 40 + 20 + 20);

  contract->wanted = 1;
  EXPECT_EQ(rig.tree.evictable(Sparing::kWanted).n_seqs, 0);
  EXPECT_FALSE(rig.tree.evict_for_sequence(Sparing::kWanted)) << "the annex alone gives nothing";
  EXPECT_EQ(rig.match(letters(40, 1) + letters(20, 2)).node, annex);

  EXPECT_TRUE(rig.tree.evict_for_sequence(Sparing::kNothing));
  rig.check();
  EXPECT_EQ(rig.seqs.n_free(), n_free + 1);
  EXPECT_EQ(rig.tree.n_evictions(), 2);
  EXPECT_EQ(rig.match(letters(40, 1)).n, 0);
  EXPECT_FALSE(rig.tree.evict_for_sequence(Sparing::kNothing));
  EXPECT_EQ(rig.tree.n_nodes(), 2) << "nothing is taken in vain";
  rig.tree.unpin(pinned);
}

//  document -- left, right: one of them can go and the other serves for the document
TEST_P(EveryKindOfEviction, WhatASiblingServesForStays) {
  TreeRig rig(GetParam(), 4000, 16, 1000);
  PrefixNode* document = rig.ready(rig.tree.root(), letters(40, 1));
  rig.ready(document, letters(20, 2));
  rig.ready(document, letters(20, 3));
  const int n_free = rig.seqs.n_free();

  EXPECT_TRUE(rig.tree.evict_for_sequence(Sparing::kNothing));
  rig.check();

  EXPECT_EQ(rig.seqs.n_free(), n_free + 1);
  EXPECT_EQ(rig.match(letters(40, 1) + letters(20, 2)).n, 40) << "used least recently";
  EXPECT_EQ(rig.match(letters(40, 1) + letters(20, 3)).n, 60);
}

TEST(EvictionOrder, OfWantedNodesTheOneWantedLastGoesFirst) {
  for (const bool for_sequence : {false, true}) {
    TreeRig rig;
    const char* const names[] = {"second", "fourth", "first", "third"};
    const int places[] = {2, 4, 1, 3};
    for (int i = 0; i < 4; ++i) rig.ready(rig.tree.root(), names[i])->wanted = places[i];
    rig.ready(rig.tree.root(), "nobody's");

    for (const char* expected : {"nobody's", "fourth", "third", "second", "first"}) {
      ASSERT_EQ(rig.match(expected).n, static_cast<int>(std::string(expected).size()));
      EXPECT_TRUE(for_sequence ? rig.tree.evict_for_sequence(Sparing::kNothing)
                               : rig.tree.evict_one(Sparing::kNothing));
      rig.check();
      EXPECT_EQ(rig.match(expected).n, 0) << expected;
    }
  }
}

// Random trees: what evictable() promises is what evictions give.
TEST_P(EveryKindOfEviction, WhatIsPromisedIsGiven) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 rng(seed);
    const auto pick = [&rng](std::size_t n) { return rng() % n; };
    TreeRig rig(GetParam(), 4000, 40, 1000);
    std::vector<PrefixNode*> nodes{rig.tree.root()};
    for (int i = 0; i < 12; ++i) {
      PrefixNode* parent = nodes[pick(nodes.size())];
      const std::string text =
          letters(static_cast<int>(2 + pick(9)), static_cast<int>(seed * 100) + i);
      const bool is_turn = parent != rig.tree.root() && pick(3) == 0;
      nodes.push_back(is_turn ? adopted(rig, parent, text) : rig.ready(parent, text));
      if (is_turn) rig.tree.keep(nodes.back(), static_cast<std::uint64_t>(i));
      rig.check();
    }
    for (int i = 0; i < 3; ++i) rig.tree.pin(nodes[1 + pick(nodes.size() - 1)]);
    if (pick(2) == 0) {  // somebody waits for what is not computed yet
      PrefixNode* parent = nodes[pick(nodes.size())];
      rig.tree.pin(rig.tree.extend(parent, TreeRig::tokens(letters(5, seed * 100 + 50))));
      rig.check();
    }
    for (int i = 0; i < 3; ++i) nodes[1 + pick(nodes.size() - 1)]->wanted = i + 1;
    const auto sparing =
        std::vector{Sparing::kWantedAndKept, Sparing::kWanted, Sparing::kNothing}[pick(3)];
    while (rig.tree.give_back_spare_holder()) rig.check();

    const PrefixTree::Evictable promised = rig.tree.evictable(sparing);
    const int n_free_seqs = rig.seqs.n_free(), n_free_cells = rig.cells.n_free();
    int n_freed = 0;
    while (rig.tree.evict_for_sequence(sparing)) {
      rig.check();
      ASSERT_EQ(rig.seqs.n_free(), n_free_seqs + ++n_freed) << "each gives exactly one";
    }
    EXPECT_EQ(n_freed, promised.n_seqs);
    while (rig.tree.evict_one(sparing)) rig.check();
    EXPECT_EQ(rig.seqs.n_free(), n_free_seqs + promised.n_seqs);
    EXPECT_GE(rig.cells.n_free(), n_free_cells + promised.n_cells);
  }
}

}  // namespace
}  // namespace swarmkv::internal
