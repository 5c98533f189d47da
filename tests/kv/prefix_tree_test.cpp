// Changing the tree: cuts, pins, evictions, and who owns the cells.
#include "kv/prefix_tree.h"

#include <gtest/gtest.h>

#include "support/texts.h"
#include "support/tree_rig.h"

namespace swarmkv::internal {
namespace {

//  [0 .......... 100)   ->   [0 ... 40) -- [40 .. 100)
TEST(PrefixTree, ACutChangesNoCellAndNoText) {
  for (const int n_computed : {0, 20, 40, 70, 100}) {
    SCOPED_TRACE(n_computed);
    TreeRig rig;
    const std::string text = letters(100, 1);
    PrefixNode* node = rig.tree.extend(rig.tree.root(), TreeRig::tokens(text));
    rig.tree.pin(node);
    if (n_computed > 0) rig.compute(node, n_computed);

    PrefixNode* upper = rig.tree.split(node, 40);
    rig.tree.pin(upper);
    rig.check();

    EXPECT_EQ(upper->end(), 40);
    EXPECT_EQ(node->start, 40);
    EXPECT_EQ(node->parent, upper);
    EXPECT_EQ(upper->n_computed, std::min(40, n_computed));
    EXPECT_EQ(node->n_computed, std::max(40, n_computed));
    EXPECT_EQ(rig.context->n_used_cells(), n_computed);
    EXPECT_EQ(rig.tree.n_cells_reserved(), 100);
    if (!upper->ready()) rig.compute(upper);
    if (!node->ready()) rig.compute(node);
    EXPECT_EQ(rig.forked_text(node), text);
    EXPECT_EQ(rig.forked_text(upper), text.substr(0, 40));
    EXPECT_EQ(rig.tree.split(upper, 40), upper) << "its own end is no cut";
  }
}

TEST(PrefixTree, ACutOfATwinTakesTheRightOne) {
  TreeRig rig;
  const std::string a = "same" + letters(60, 1), b = "same" + letters(60, 2);
  rig.ready(rig.tree.root(), a);
  PrefixNode* second = rig.ready(rig.tree.root(), b);

  PrefixNode* upper = rig.tree.split(second, 30);
  rig.check();

  EXPECT_EQ(rig.forked_text(upper), b.substr(0, 30));
  EXPECT_EQ(rig.match(a).n, 64);
  EXPECT_EQ(rig.match(b).n, 64);
}

TEST(PrefixTree, TheLastUnpinGivesBackWhatWasNotComputed) {
  TreeRig rig;
  PrefixNode* node = rig.tree.extend(rig.tree.root(), TreeRig::tokens(letters(100, 1)));
  rig.tree.pin(node);
  rig.tree.pin(node);
  rig.compute(node, 30);

  rig.tree.unpin(node);
  EXPECT_EQ(rig.tree.n_cells_reserved(), 100);
  rig.tree.unpin(node);
  rig.check();

  EXPECT_EQ(rig.tree.n_cells_reserved(), 30);
  EXPECT_TRUE(node->ready());
  EXPECT_EQ(rig.match(letters(100, 1)).n, 30);
}

TEST(PrefixTree, AChainNobodyWaitsForAnyMoreGoesUpToWhatIsComputed) {
  TreeRig rig;
  PrefixNode* a = rig.tree.extend(rig.tree.root(), TreeRig::tokens(letters(10, 1)));
  PrefixNode* b = rig.tree.extend(a, TreeRig::tokens(letters(10, 2)));
  PrefixNode* c = rig.tree.extend(b, TreeRig::tokens(letters(10, 3)));
  rig.tree.pin(c);
  rig.compute(a, 5);

  rig.tree.unpin(c);
  rig.check();

  EXPECT_EQ(rig.tree.n_nodes(), 1);
  EXPECT_EQ(rig.tree.n_cells_reserved(), 5);
  EXPECT_EQ(rig.cells.n_free(), 4000 - 5);
}

TEST(PrefixTree, TheLeastRecentlyUsedLeafGoesFirst) {
  TreeRig rig;
  PrefixNode* top = rig.ready(rig.tree.root(), "top ");
  PrefixNode* old_leaf = rig.ready(top, "aaaa");
  PrefixNode* new_leaf = rig.ready(top, "bbbb");
  PrefixNode* other = rig.ready(rig.tree.root(), "other");
  rig.tree.pin(old_leaf);  // used again
  rig.tree.unpin(old_leaf);
  const auto left = [&] {
    std::string names;
    if (rig.match("top aaaa").n == 8) names += "a";
    if (rig.match("top bbbb").n == 8) names += "b";
    if (rig.match("top ").n == 4) names += "t";
    if (rig.match("other").n == 5) names += "o";
    return names;
  };
  (void)new_leaf;
  (void)other;

  for (const char* expected : {"ato", "at", "t", ""}) {
    EXPECT_TRUE(rig.tree.evict_one(Sparing::kWantedAndKept));
    rig.check();
    EXPECT_EQ(left(), expected);
  }
  EXPECT_FALSE(rig.tree.evict_one(Sparing::kNothing));
  EXPECT_EQ(rig.tree.n_evictions(), 4);
  EXPECT_EQ(rig.context->n_used_cells(), 0);
  EXPECT_EQ(rig.seqs.n_free(), 16);
}

TEST(PrefixTree, WhatIsWantedGoesLastAndWhatIsPinnedNever) {
  TreeRig rig;
  PrefixNode* wanted = rig.ready(rig.tree.root(), "wanted");
  PrefixNode* pinned = rig.ready(rig.tree.root(), "pinned");
  rig.ready(rig.tree.root(), "free");
  rig.tree.pin(pinned);
  wanted->wanted = true;
  EXPECT_EQ(rig.tree.evictable(Sparing::kWantedAndKept).n_cells, 4);
  EXPECT_EQ(rig.tree.evictable(Sparing::kNothing).n_cells, 10);

  EXPECT_TRUE(rig.tree.evict_one(Sparing::kWantedAndKept));
  EXPECT_EQ(rig.match("free").n, 0);
  EXPECT_FALSE(rig.tree.evict_one(Sparing::kWantedAndKept));
  EXPECT_TRUE(rig.tree.evict_one(Sparing::kNothing));
  EXPECT_EQ(rig.match("wanted").n, 0);
  EXPECT_FALSE(rig.tree.evict_one(Sparing::kNothing));
  EXPECT_EQ(rig.forked_text(pinned), "pinned");
  rig.tree.unpin(pinned);
  EXPECT_TRUE(rig.tree.evict_one(Sparing::kWantedAndKept));
}

TEST(PrefixTree, AParentOfAPinnedNodeIsNotEvictable) {
  TreeRig rig;
  PrefixNode* top = rig.ready(rig.tree.root(), "top ");
  PrefixNode* leaf = rig.ready(top, "leaf");
  rig.tree.pin(leaf);

  EXPECT_EQ(rig.tree.evictable(Sparing::kNothing).n_cells, 0);
  EXPECT_FALSE(rig.tree.evict_one(Sparing::kNothing));
  EXPECT_EQ(rig.forked_text(leaf), "top leaf");
}

//  One sequence computes a row of nodes; when the leaf goes, its sequence stays with the parent,
//  cut back.
TEST(PrefixTree, AnEvictedLeafHandsItsSequenceToAParentThatHasNone) {
  for (const ForkKind kind : {ForkKind::kFull, ForkKind::kWindow}) {
    TreeRig rig(kind);
    PrefixNode* top = rig.ready(rig.tree.root(), letters(40, 1));
    PrefixNode* leaf = rig.ready(top, letters(40, 2));
    ASSERT_EQ(top->holder, kNoSeq);
    ASSERT_NE(leaf->holder, kNoSeq);

    ASSERT_TRUE(rig.tree.evict_one(Sparing::kWantedAndKept));
    rig.check();

    EXPECT_NE(top->holder, kNoSeq);
    EXPECT_EQ(rig.context->n_used_cells(), 40);
    EXPECT_EQ(rig.forked_text(top), letters(40, 1));
  }
}

TEST(PrefixTree, AParentThatCannotBeKeptGoesWithItsLeaf) {
  TreeRig rig(ForkKind::kWindow);
  rig.model->faults().set_drop_outside_window(true);
  PrefixNode* top = rig.ready(rig.tree.root(), letters(40, 1));
  rig.ready(top, letters(40, 2));

  ASSERT_TRUE(rig.tree.evict_one(Sparing::kWantedAndKept));
  rig.check();

  EXPECT_EQ(rig.tree.n_nodes(), 0) << "its window is gone, nobody could fork it";
  EXPECT_EQ(rig.context->n_used_cells(), 0);
  EXPECT_EQ(rig.seqs.n_free(), 16);
}

}  // namespace
}  // namespace swarmkv::internal
