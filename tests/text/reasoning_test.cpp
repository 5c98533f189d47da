#include "text/reasoning.h"

#include <gtest/gtest.h>

namespace swarmkv::internal {
namespace {

TEST(Reasoning, StandsBeforeTheAnswer) {
  const SplitAnswer split = split_reasoning("<think>\nA or B?\n</think>\n\nB.\n");
  EXPECT_EQ(split.answer, "B.\n");
  EXPECT_EQ(split.reasoning, "A or B?");
}

TEST(Reasoning, MayHaveBeenOpenedByTheTemplate) {
  const SplitAnswer split = split_reasoning("A or B?</think>B.");
  EXPECT_EQ(split.answer, "B.");
  EXPECT_EQ(split.reasoning, "A or B?");
}

TEST(Reasoning, CutOffItIsAllThereIs) {
  const SplitAnswer split = split_reasoning(" <think> A or");
  EXPECT_EQ(split.answer, "");
  EXPECT_EQ(split.reasoning, "A or");
}

TEST(Reasoning, AnEmptyOneIsNotNone) {
  EXPECT_EQ(split_reasoning("<think>\n\n</think>\n\nB.").reasoning, "");
  EXPECT_EQ(split_reasoning("<think>\n\n</think>\n\nB.").answer, "B.");
}

TEST(Reasoning, OtherTextIsLeftAsItIs) {
  for (const char* text : {"", "  B.", "The tag <think> opens </think> a thought.", "a </thin>"}) {
    EXPECT_EQ(split_reasoning(text).answer, text);
    EXPECT_EQ(split_reasoning(text).reasoning, std::nullopt) << text;
  }
}

}  // namespace
}  // namespace swarmkv::internal
