#include "api/plan_tree.h"

#include <gtest/gtest.h>

namespace swarmkv::internal {
namespace {

constexpr int kMinGain = 4;

std::shared_ptr<const Tokens> prompt(const std::string& text) {
  auto tokens = std::make_shared<Tokens>();
  for (const char c : text) tokens->push_back(c);
  return tokens;
}

// "0-4 4-8<0" = two nodes; the number behind < is the parent's place.
std::string drawn(const PlanTree& tree) {
  std::string out;
  std::vector<int> place(tree.nodes().size(), -1);
  int n = 0;
  for (const int number : tree.in_order()) {
    const PlanTree::Node& node = tree.nodes()[static_cast<std::size_t>(number)];
    place[static_cast<std::size_t>(number)] = n++;
    out += (out.empty() ? "" : " ") + std::to_string(node.begin) + "-" + std::to_string(node.end);
    if (node.parent >= 0) {
      out += "<" + std::to_string(place[static_cast<std::size_t>(node.parent)]);
    }
  }
  return out;
}

TEST(PlanTree, AnEqualPromptAddsNothing) {
  PlanTree tree(kMinGain);
  const int first = tree.add(prompt("abcdef"), {});
  EXPECT_EQ(tree.add(prompt("abcdef"), {}), first);
  EXPECT_EQ(drawn(tree), "0-6");
}

TEST(PlanTree, CutsWhereEarlyStartsAre) {
  PlanTree tree(kMinGain);
  const int whole = tree.add(prompt("abcdefgh"), std::vector<int>{2, 5, 8, 20});
  EXPECT_EQ(drawn(tree), "0-2 2-5<0 5-8<1");
  EXPECT_EQ(tree.nodes()[static_cast<std::size_t>(whole)].end, 8);
  EXPECT_EQ(tree.n_tokens(), 8);
}

TEST(PlanTree, SplitsWhereALaterPromptEndsAndKeepsTheNumberOfTheFirst) {
  PlanTree tree(kMinGain);
  const int whole = tree.add(prompt("abcdef"), {});
  const int head = tree.add(prompt("abc"), {});
  EXPECT_EQ(drawn(tree), "0-3 3-6<0");
  EXPECT_EQ(tree.nodes()[static_cast<std::size_t>(whole)].end, 6);
  EXPECT_EQ(tree.nodes()[static_cast<std::size_t>(head)].end, 3);
  EXPECT_EQ(tree.nodes()[static_cast<std::size_t>(whole)].parent, head);
}

TEST(PlanTree, SharesAnAccidentalBeginningOnlyIfItIsLongEnough) {
  PlanTree tree(kMinGain);
  tree.add(prompt("abcXX"), {});
  tree.add(prompt("abcYYY"), {});
  EXPECT_EQ(drawn(tree), "0-5 0-6");
  tree.add(prompt("abcYYZ"), {});
  EXPECT_EQ(drawn(tree), "0-5 0-5 5-6<1 5-6<1") << "five tokens of the second one are enough";
  EXPECT_EQ(tree.n_tokens(), 5 + 5 + 1 + 1);
}

TEST(PlanTree, FindsAMatchThroughBranchesThatBeginAlike) {
  PlanTree tree(kMinGain);
  tree.add(prompt("abX"), {});
  tree.add(prompt("abYYYY"), {});
  tree.add(prompt("abYYYYZZ"), {});
  EXPECT_EQ(drawn(tree), "0-3 0-6 6-8<1");
}

TEST(PlanTree, AnEmptyPromptHasNoNode) {
  PlanTree tree(kMinGain);
  EXPECT_EQ(tree.add(prompt(""), {}), -1);
  EXPECT_EQ(tree.n_tokens(), 0);
  EXPECT_TRUE(tree.in_order().empty());
}

}  // namespace
}  // namespace swarmkv::internal
