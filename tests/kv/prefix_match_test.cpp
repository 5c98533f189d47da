// Finding the best point to fork from.
#include <gtest/gtest.h>

#include "support/texts.h"
#include "support/tree_rig.h"

namespace swarmkv::internal {
namespace {

TEST(PrefixMatch, AnEmptyTreeMatchesNothing) {
  const TreeRig rig;
  const auto match = rig.match("anything");
  EXPECT_EQ(match.n, 0);
  EXPECT_EQ(match.node->parent, nullptr);
  EXPECT_FALSE(match.fell_back);
}

//  root -- contract -- annex
//                  \-- letter
TEST(PrefixMatch, TheDeepestNodeWhoseWholeSpanIsEqualIsTaken) {
  TreeRig rig;
  PrefixNode* contract = rig.ready(rig.tree.root(), "contract ");
  PrefixNode* annex = rig.ready(contract, "annex ");
  rig.ready(contract, "letter ");

  EXPECT_EQ(rig.match("contract annex and more").node, annex);
  EXPECT_EQ(rig.match("contract annex and more").n, 15);
  EXPECT_EQ(rig.match("contract anne").node, contract)
      << "four letters are no reason to cut a node";
  EXPECT_EQ(rig.match("contrast").n, 0);
}

TEST(PrefixMatch, EveryTokenIsCompared) {
  TreeRig rig;
  const std::string document = letters(100, 1);
  rig.ready(rig.tree.root(), document);
  for (std::size_t i = 0; i < document.size(); ++i) {
    std::string other = document;
    other[i] = '!';
    EXPECT_EQ(rig.match(other, 0, 1).n, static_cast<int>(i));
  }
}

TEST(PrefixMatch, AnAccidentalMatchCountsFrom32TokensGained) {
  TreeRig rig;
  PrefixNode* document = rig.ready(rig.tree.root(), letters(50, 1));
  PrefixNode* other = rig.ready(document, letters(100, 2));
  const std::string both = letters(50, 1) + letters(100, 2);

  EXPECT_EQ(rig.match(both.substr(0, 81) + "!").n, 50);
  EXPECT_EQ(rig.match(both.substr(0, 81) + "!").node, document);
  EXPECT_EQ(rig.match(both.substr(0, 82) + "!").n, 82);
  EXPECT_EQ(rig.match(both.substr(0, 82) + "!").node, other);
}

TEST(PrefixMatch, ADeclaredEndCountsHoweverLittleItGains) {
  TreeRig rig;
  rig.ready(rig.tree.root(), letters(100, 1));
  const std::string document = letters(100, 1).substr(0, 5);

  EXPECT_EQ(rig.match(document + "!", 5).n, 5);
  EXPECT_EQ(rig.match(document + "!", 0).n, 0);
  EXPECT_EQ(rig.match(letters(100, 1).substr(0, 4) + "!x", 5).n, 0)
      << "it has to match up to there";
}

TEST(PrefixMatch, ADeclaredEndDoesNotHideALongerMatch) {
  TreeRig rig;
  rig.ready(rig.tree.root(), letters(100, 1));

  EXPECT_EQ(rig.match(letters(100, 1).substr(0, 60) + "!", 10).n, 60);
  EXPECT_EQ(rig.match(letters(100, 1).substr(0, 40) + "!", 10).n, 10);
}

TEST(PrefixMatch, NeverGoesDeeperThanTheLimit) {
  TreeRig rig;
  rig.ready(rig.tree.root(), letters(100, 1));
  const Tokens all = TreeRig::tokens(letters(100, 1));

  EXPECT_EQ(rig.tree.match(PromptView({}, all), 99, 99, 32).n, 99);
  EXPECT_EQ(rig.tree.match(PromptView({}, all), 100, 100, 32).n, 100);
  EXPECT_EQ(rig.tree.match(PromptView({}, all), 0, 0, 1).n, 0);
}

TEST(PrefixMatch, ASeamBetweenPrefixAndSuffixMakesNoDifference) {
  TreeRig rig;
  PrefixNode* first = rig.ready(rig.tree.root(), letters(40, 1));
  PrefixNode* second = rig.ready(first, letters(40, 2));
  const Tokens all = TreeRig::tokens(letters(40, 1) + letters(40, 2) + "end");
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    const std::span<const Token> whole(all);
    const auto match = rig.tree.match(PromptView(whole.first(cut), whole.subspan(cut)), 82, 0, 32);
    EXPECT_EQ(match.node, second) << "cut at " << cut;
    EXPECT_EQ(match.n, 80);
  }
}

//  Two nodes may begin alike: the second came when the first was no match worth a cut.
TEST(PrefixMatch, OfTwinsTheLongerMatchIsFound) {
  for (const bool first_is_longer : {true, false}) {
    TreeRig rig;
    const std::string a = "common " + letters(60, 1), b = "common " + letters(60, 2);
    rig.ready(rig.tree.root(), first_is_longer ? a : b);
    rig.ready(rig.tree.root(), first_is_longer ? b : a);

    EXPECT_EQ(rig.match(a + "x").n, 67);
    EXPECT_EQ(rig.match(b + "x").n, 67);
    EXPECT_EQ(rig.match(a.substr(0, 50) + "!").n, 50);
    EXPECT_EQ(rig.match("common !").n, 0);
  }
}

TEST(PrefixMatch, ANodeBeingComputedMatchesAsIfItWereReady) {
  TreeRig rig;
  PrefixNode* node = rig.tree.extend(rig.tree.root(), TreeRig::tokens(letters(100, 1)));
  rig.tree.pin(node);
  rig.compute(node, 10);

  EXPECT_EQ(rig.match(letters(100, 1) + "x").node, node);
  EXPECT_EQ(rig.match(letters(100, 1).substr(0, 70) + "x").n, 70);
}

TEST(PrefixMatch, ARecurrentStateIsForkedWhereItStandsOrWillStand) {
  TreeRig rig(ForkKind::kRecurrent);
  rig.ready(rig.tree.root(), letters(100, 1));
  const auto inside = rig.match(letters(100, 1).substr(0, 60) + "!", 60);
  EXPECT_EQ(inside.n, 0) << "it cannot be rewound";
  EXPECT_TRUE(inside.fell_back) << "and the report has to say so";
  EXPECT_EQ(rig.match(letters(100, 1) + "!").n, 100);

  PrefixNode* running = rig.tree.extend(rig.tree.root(), TreeRig::tokens(letters(100, 2)));
  rig.tree.pin(running);
  rig.compute(running, 30);
  EXPECT_EQ(rig.match(letters(100, 2).substr(0, 20) + "!", 20).n, 0);
  EXPECT_EQ(rig.match(letters(100, 2).substr(0, 60) + "!", 60).n, 60)
      << "there is time for a cut at 60";
}

TEST(PrefixMatch, AWindowThatWasLostIsNoMatch) {
  TreeRig rig(ForkKind::kWindow);
  rig.ready(rig.tree.root(), letters(100, 1));
  EXPECT_EQ(rig.match(letters(100, 1).substr(0, 60) + "!", 60).n, 60) << "nothing is lost yet";

  rig.model->faults().set_drop_outside_window(true);
  rig.ready(rig.tree.root(), letters(100, 2));
  const auto inside = rig.match(letters(100, 2).substr(0, 60) + "!", 60);
  EXPECT_EQ(inside.n, 0);
  EXPECT_TRUE(inside.fell_back);
  EXPECT_EQ(rig.match(letters(100, 2) + "!").n, 100);
}

TEST(PrefixMatch, LooksAtTheNodesOnItsPathOnly) {
  TreeRig rig(ForkKind::kFull, 50000);
  const auto two = [](int i) { return std::string{static_cast<char>(i), 'x'}; };
  for (int i = 0; i < 100; ++i) {
    PrefixNode* middle = rig.tree.extend(rig.tree.root(), TreeRig::tokens(two(i)));
    for (int j = 0; j < 100; ++j) rig.tree.pin(rig.tree.extend(middle, TreeRig::tokens(two(j))));
  }
  ASSERT_EQ(rig.tree.n_nodes(), 10100);

  std::vector<PrefixNode*> matched;
  EXPECT_EQ(rig.match(two(57) + two(91) + "rest", 0, 32, &matched).n, 4);
  EXPECT_EQ(matched.size(), 3u);
}

// A document may declare every token a fork point: such a chain must not end the process in
// recursion.
TEST(PrefixMatch, AVeryDeepTreeIsMatchedCheckedAndTakenDown) {
  constexpr int kDepth = 200000;
  TreeRig rig(ForkKind::kFull, kDepth);
  PrefixNode* node = rig.tree.root();
  for (int i = 0; i < kDepth; ++i) node = rig.tree.extend(node, {'x'});
  rig.tree.pin(node);

  EXPECT_EQ(rig.match(std::string(kDepth, 'x')).node, node);
  rig.check();
  EXPECT_EQ(rig.tree.n_unstarted(), 1) << "a chain hands one sequence down";
}

}  // namespace
}  // namespace swarmkv::internal
