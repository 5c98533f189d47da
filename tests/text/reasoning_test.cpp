#include "text/reasoning.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

// Everything that is held back, or let go again: blanks, marks, beginnings of marks.
const std::vector<std::string> kTexts = {"",
                                         "B.",
                                         "  B. ",
                                         " \n",
                                         "<",
                                         " <thin",
                                         "<thing> B",
                                         "<<think>a</think>b",
                                         "<think>",
                                         "<think> a",
                                         "<think>a </thi",
                                         "<think>a \n",
                                         "<think></think>",
                                         "<think>a</think>b",
                                         " \n<think>\n a  b \n</think>\n\n b \n",
                                         "<think>a</think>b<think>c</think>d",
                                         "<think>a<</</think>b",
                                         "<think>a </th </think</think> ",
                                         "<think><think>a</think>b",
                                         "a</think>b",
                                         " </think> b",
                                         "a < b </think>\n\n<think>c",
                                         "\xc3\xa9</think>\xf0\x9f\x90\x9d"};

TEST(ReasoningStream, JoinedIsWhatTheWholeTextSplitsInto) {
  for (const std::string& text : kTexts) {
    for (const bool opened : {false, true}) {
      SCOPED_TRACE("'" + text + "' " + (opened ? "opened" : "not opened"));
      const SplitAnswer whole = split_reasoning(text, opened);
      for (std::size_t i = 0; i <= text.size(); ++i) {
        for (std::size_t j = i; j <= text.size(); ++j) {
          ReasoningStream stream(opened);
          std::string answer, reasoning;
          bool is_ordered = true;
          const auto take = [&](const ReasoningStream::Piece& piece) {
            is_ordered = is_ordered && (answer.empty() || piece.reasoning.empty());
            answer += piece.answer;
            reasoning += piece.reasoning;
          };
          take(stream.push(text.substr(0, i)));
          take(stream.push(text.substr(i, j - i)));
          take(stream.push(text.substr(j)));
          take(stream.finish());
          EXPECT_EQ(answer, whole.answer) << i << " " << j;
          EXPECT_EQ(reasoning, whole.reasoning.value_or("")) << i << " " << j;
          EXPECT_TRUE(is_ordered) << i << " " << j;
          EXPECT_TRUE(stream.finish().empty());
        }
      }
    }
  }
}

TEST(ReasoningStream, TakesATextByteByByte) {
  for (const std::string& text : kTexts) {
    for (const bool opened : {false, true}) {
      ReasoningStream stream(opened);
      std::string answer, reasoning;
      for (const char c : text) {
        const ReasoningStream::Piece piece = stream.push({&c, 1});
        answer += piece.answer;
        reasoning += piece.reasoning;
      }
      const ReasoningStream::Piece rest = stream.finish();
      const SplitAnswer whole = split_reasoning(text, opened);
      EXPECT_EQ(answer + rest.answer, whole.answer) << text << opened;
      EXPECT_EQ(reasoning + rest.reasoning, whole.reasoning.value_or("")) << text << opened;
    }
  }
}

TEST(ReasoningStream, HoldsNothingBackThatIsSurelyText) {
  ReasoningStream plain(false), opened(true), marked(false);

  EXPECT_EQ(plain.push("B").answer, "B");
  EXPECT_EQ(plain.push(" <think").answer, " <think") << "an answer has no marks";
  EXPECT_EQ(opened.push("A or").reasoning, "A or");
  EXPECT_EQ(opened.push(" B? <").reasoning, " B?");
  EXPECT_EQ(opened.push("c").reasoning, " <c");
  EXPECT_EQ(opened.push("</think>\n").reasoning, "");
  EXPECT_EQ(opened.push("B").answer, "B");
  EXPECT_TRUE(marked.push("<thin").empty());
  EXPECT_EQ(marked.push("k>a").reasoning, "a");
}

}  // namespace
}  // namespace swarmkv::internal
