#include "text/reasoning.h"

#include <gtest/gtest.h>

namespace swarmkv::internal {
namespace {

TEST(Reasoning, StandsBeforeTheAnswer) {
  const SplitAnswer split = split_reasoning("<think>\nA or B?\n</think>\n\nB.\n", false);
  EXPECT_EQ(split.answer, "B.\n");
  EXPECT_EQ(split.reasoning, "A or B?");
}

TEST(Reasoning, MayHaveBeenOpenedByTheTemplate) {
  const SplitAnswer split = split_reasoning("A or B?</think>B.", true);
  EXPECT_EQ(split.answer, "B.");
  EXPECT_EQ(split.reasoning, "A or B?");
}

TEST(Reasoning, CutOffItIsAllThereIs) {
  const SplitAnswer split = split_reasoning(" <think> A or", false);
  EXPECT_EQ(split.answer, "");
  EXPECT_EQ(split.reasoning, "A or");
}

TEST(Reasoning, AnEmptyOneIsNotNone) {
  EXPECT_EQ(split_reasoning("<think>\n\n</think>\n\nB.", false).reasoning, "");
  EXPECT_EQ(split_reasoning("<think>\n\n</think>\n\nB.", false).answer, "B.");
}

TEST(Reasoning, OtherTextIsLeftAsItIs) {
  for (const char* text : {"", "  B.", "The tag <think> opens </think> a thought.", "a </thin>",
                           "The mark </think> ends it."}) {
    EXPECT_EQ(split_reasoning(text, false).answer, text);
    EXPECT_EQ(split_reasoning(text, false).reasoning, std::nullopt) << text;
  }
}

}  // namespace
}  // namespace swarmkv::internal
