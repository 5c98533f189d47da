// Sequences of the tree: who gets one, what a failed forward does to it, and how the tree proves
// itself sound.
#include <gtest/gtest.h>

#include "support/fork_kinds.h"
#include "support/texts.h"
#include "support/tree_rig.h"

namespace swarmkv::internal {
namespace {

class EveryKindOfTree : public ::testing::TestWithParam<ForkKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryKindOfTree, every_fork_kind(), fork_kind_name);

//  root -- a -- b -- c
TEST_P(EveryKindOfTree, ARowOfNodesTakesAsManySequencesAsAnnounced) {
  TreeRig rig(GetParam());
  const int n_announced = rig.tree.n_holders_for(rig.tree.root(), 3);
  PrefixNode* a = rig.tree.extend(rig.tree.root(), TreeRig::tokens(letters(10, 1)));
  PrefixNode* b = rig.tree.extend(a, TreeRig::tokens(letters(10, 2)));
  PrefixNode* c = rig.tree.extend(b, TreeRig::tokens(letters(10, 3)));
  rig.tree.pin(c);
  for (PrefixNode* next : {a, b, c}) rig.compute(next);

  EXPECT_EQ(16 - rig.seqs.n_free(), n_announced);
  EXPECT_EQ(n_announced, GetParam() == ForkKind::kRecurrent ? 3 : 1);
  EXPECT_EQ(rig.context->n_used_cells() <= 30 || GetParam() == ForkKind::kRecurrent, true);
  EXPECT_EQ(rig.forked_text(c), letters(10, 1) + letters(10, 2) + letters(10, 3));
  EXPECT_EQ(rig.forked_text(a), letters(10, 1));
}

TEST_P(EveryKindOfTree, ForksFromSeveralPointsHoldTheirPathAndNothingElse) {
  TreeRig rig(GetParam());
  PrefixNode* top = rig.ready(rig.tree.root(), letters(40, 1));
  PrefixNode* left = rig.ready(top, letters(20, 2));
  PrefixNode* right = rig.ready(top, letters(20, 3));

  EXPECT_EQ(rig.forked_text(left), letters(40, 1) + letters(20, 2));
  EXPECT_EQ(rig.forked_text(right), letters(40, 1) + letters(20, 3));
  EXPECT_EQ(rig.forked_text(top), letters(40, 1));
  EXPECT_EQ(rig.forked_text(rig.tree.root()), "");
  while (rig.tree.evict_one(Sparing::kNothing)) rig.check();
  EXPECT_EQ(rig.seqs.n_free(), 16);
  EXPECT_EQ(rig.context->n_used_cells(), 0);
}

TEST_P(EveryKindOfTree, WithoutAFreeSequenceANodeHasToWait) {
  TreeRig rig(GetParam(), 4000, 1);
  PrefixNode* first = rig.ready(rig.tree.root(), "first");
  PrefixNode* second = rig.tree.extend(rig.tree.root(), TreeRig::tokens("second"));
  rig.tree.pin(second);

  EXPECT_EQ(rig.tree.n_unstarted(), 1);
  EXPECT_EQ(rig.tree.prepare_to_compute(second), PrefixTree::Ready::kNoSequence);
  ASSERT_TRUE(rig.tree.evict_one(Sparing::kWantedAndKept));
  (void)first;
  rig.compute(second);
  EXPECT_EQ(rig.tree.n_unstarted(), 0);
  EXPECT_EQ(rig.context->tokens(second->holder), TreeRig::tokens("second"));
}

TEST_P(EveryKindOfTree, AfterAFailedForwardANodeHoldsWhatItClaims) {
  for (const ForwardStatus status :
       {ForwardStatus::kAborted, ForwardStatus::kFatal, ForwardStatus::kNoSlot}) {
    TreeRig rig(GetParam());
    PrefixNode* top = rig.ready(rig.tree.root(), letters(40, 1));
    PrefixNode* node = rig.tree.extend(top, TreeRig::tokens(letters(40, 2)));
    rig.tree.pin(node);
    rig.compute(node, 10);
    rig.model->faults().fail_at(rig.context->n_forwards() + 1, status, 1,
                                status == ForwardStatus::kFatal ? 3 : 0);
    Batch batch;
    for (int i = 0; i < 5; ++i)
      batch.push_back({node->span[static_cast<std::size_t>(10 + i)], 50 + i, node->holder, false});
    ASSERT_EQ(rig.context->forward(batch), status);

    rig.tree.repair(node);
    rig.check();

    if (GetParam() != ForkKind::kRecurrent) {
      EXPECT_EQ(node->n_computed, 50) << "nothing that was good is lost";
    }
    rig.compute(node);
    EXPECT_EQ(rig.forked_text(node), letters(40, 1) + letters(40, 2));
  }
}

//  root -- document -- [private tail of a branch]   ->   root -- document -- shared part
TEST_P(EveryKindOfTree, APartOfABranchBecomesANodeAndGoesWithItsLastUser) {
  TreeRig rig(GetParam());
  PrefixNode* document = rig.ready(rig.tree.root(), letters(40, 1));
  const SeqId branch = rig.seqs.acquire();
  ASSERT_TRUE(rig.tree.fork(document, branch));
  const Tokens tail = TreeRig::tokens(letters(10, 2));
  Batch batch;
  for (int i = 0; i < 10; ++i)
    batch.push_back({tail[static_cast<std::size_t>(i)], 40 + i, branch, false});
  ASSERT_EQ(rig.context->forward(batch), ForwardStatus::kOk);
  ASSERT_TRUE(rig.cells.try_reserve(10));  // the branch's; the node takes them over

  PrefixNode* shared = rig.tree.adopt(document, tail, 50, branch);
  rig.tree.pin(shared);
  rig.check();

  EXPECT_EQ(rig.forked_text(shared), letters(40, 1) + letters(10, 2));
  EXPECT_EQ(rig.match(letters(40, 1) + letters(10, 2) + "!").node, shared);
  rig.tree.unpin(shared);
  rig.check();
  EXPECT_EQ(rig.tree.n_nodes(), 1);
  EXPECT_EQ(rig.context->n_used_cells() <= 40 || GetParam() == ForkKind::kRecurrent, true);
  EXPECT_EQ(rig.forked_text(document), letters(40, 1));
}

TEST(PrefixIntegrity, EveryBrokenPromiseIsNoticed) {
  const std::pair<const char*, void (*)(TreeRig&, PrefixNode*, PrefixNode*)> faults[] = {
      {"outside its span",
       [](TreeRig&, PrefixNode*, PrefixNode* leaf) { leaf->n_computed = leaf->end() + 1; }},
      {"length differs", [](TreeRig& rig, PrefixNode*,
                            PrefixNode* leaf) { (void)rig.context->truncate(leaf->holder, 45); }},
      {"before its parent", [](TreeRig&, PrefixNode* top, PrefixNode*) { top->n_computed = 30; }},
      {"negative pin", [](TreeRig&, PrefixNode* top, PrefixNode*) { top->n_pins = -1; }},
      {"parent's end",
       [](TreeRig&, PrefixNode*, PrefixNode* leaf) {
         leaf->start = 41;
         leaf->n_computed = 61;
       }},
      {"empty span", [](TreeRig&, PrefixNode*, PrefixNode* leaf) { leaf->span.clear(); }},
      {"for nobody", [](TreeRig&, PrefixNode*, PrefixNode* leaf) { leaf->span.push_back('x'); }},
      {"no sequence owns", [](TreeRig&, PrefixNode*, PrefixNode* leaf) { leaf->holder = kNoSeq; }},
      {"nobody needs",
       [](TreeRig& rig, PrefixNode* top, PrefixNode*) {
         const SeqId spare = rig.seqs.acquire();
         EXPECT_TRUE(rig.tree.fork(top, spare));
         top->holder = spare;
       }},
      {"list of idle leaves", [](TreeRig&, PrefixNode*, PrefixNode* leaf) { ++leaf->last_use; }},
      {"idle leaves is too long", [](TreeRig&, PrefixNode*, PrefixNode* leaf) { ++leaf->n_pins; }},
  };
  for (const auto& [says, breaks] : faults) {
    TreeRig rig;
    PrefixNode* top = rig.ready(rig.tree.root(), letters(40, 1));
    PrefixNode* leaf = rig.ready(top, letters(20, 2));
    breaks(rig, top, leaf);
    try {
      rig.tree.check_integrity();
      ADD_FAILURE() << "not noticed: " << says;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInternal);
      EXPECT_NE(std::string(e.what()).find(says), std::string::npos) << e.what();
    }
  }
}

TEST(PrefixIntegrity, ForgettingEverythingGivesBackEveryIdAndCell) {
  TreeRig rig;
  PrefixNode* top = rig.ready(rig.tree.root(), letters(40, 1));
  rig.ready(top, letters(20, 2));
  rig.ready(rig.tree.root(), letters(20, 3));

  rig.tree.forget_all();
  rig.context->clear();
  rig.check();

  EXPECT_EQ(rig.tree.n_nodes(), 0);
  EXPECT_EQ(rig.cells.n_free(), 4000);
  EXPECT_EQ(rig.seqs.n_free(), 16);
  EXPECT_EQ(rig.forked_text(rig.ready(rig.tree.root(), "again")), "again");
}

}  // namespace
}  // namespace swarmkv::internal
