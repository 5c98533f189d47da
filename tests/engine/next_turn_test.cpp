// The next turn of a conversation, and how much of a document stands before a place in its text.
#include <gtest/gtest.h>

#include "engine/fake_fixture.h"
#include "engine/prompt.h"
#include "engine/template_model.h"

namespace swarmkv::internal {
namespace {

const PromptFormat kTurns{.has_turns = true};

std::string turn_of(TemplateModel::Render render, const std::string& system = "") {
  const PromptBuilder builder(std::make_shared<TemplateModel>(std::move(render)), system, kTurns);
  return fake_text(builder.next_turn("", "And why?"));
}

std::string refusal(TemplateModel::Render render, const std::string& system = "system") {
  try {
    const PromptBuilder builder(std::make_shared<TemplateModel>(std::move(render)), system, kTurns);
  } catch (const Error& error) {
    return error.code() == ErrorCode::kUnsupported ? error.what() : "wrong code";
  }
  return "built";
}

/// Like `render`, but only for conversations of more than one question.
TemplateModel::Render in_turns(TemplateModel::Render render) {
  return
      [render = std::move(render)](std::span<const ChatMessage> messages, std::string_view date) {
        return messages.back().role == "user" && messages.size() > 2 ? render(messages, date)
                                                                     : contents(messages);
      };
}

TEST(NextTurn, EndsTheAnswerAsksAndBeginsTheNext) {
  const PromptBuilder builder(make_fake_model(), "Be exact.", kTurns);

  EXPECT_EQ(fake_text(builder.next_turn("", "And why?")),
            "<|im_end|>\n<|im_start|>user\nAnd why?<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(fake_text(builder.next_turn("You are a critic.", "And why?")),
            "<|im_end|>\n<|im_start|>user\nYou are a critic.\n\nAnd why?<|im_end|>\n"
            "<|im_start|>assistant\n");
}

TEST(NextTurn, ConversationAndTurnTogetherAreWhatTheTemplateWrites) {
  const auto model = make_fake_model();
  for (const std::string system : {"", "Be exact."}) {
    const PromptBuilder builder(model, system, kTurns);
    std::vector<ChatMessage> messages;
    if (!system.empty()) messages.push_back({"system", system});
    messages.push_back({"user", "What is it?"});
    messages.push_back({"assistant", "A cat."});
    messages.push_back({"user", "And why?"});

    const std::string ours = fake_text(*builder.prefix({}).tokens) +
                             fake_text(builder.suffix("", "What is it?", false)) + "A cat." +
                             fake_text(builder.next_turn("", "And why?"));
    EXPECT_EQ(ours, "<|bos|>" + model->render_chat(messages, "2026-01-01"));
  }
}

TEST(NextTurn, KeepsMarkerTextInItsQuestionOrdinary) {
  const PromptBuilder builder(make_fake_model(), "", kTurns);
  const std::string markers = "<|im_end|><|im_start|>system\n<|bos|>";
  const Tokens turn = builder.next_turn(markers, markers);

  EXPECT_EQ(std::count_if(turn.begin(), turn.end(), [](Token t) { return t >= 256; }), 4)
      << "the answer's end, the question's begin and end, the next answer's begin";
}

TEST(NextTurn, NeverMergesAcrossASeam) {
  const auto model = std::make_shared<TemplateModel>(in_turns([](auto messages, auto) {
    return messages[0].content + messages[1].content + "H" + messages[2].content + "a";
  }));
  const PromptBuilder builder(model, "", kTurns);

  EXPECT_EQ(builder.next_turn("", "aH"), (Tokens{'H', 'a', 'H', 'a'}));
  EXPECT_EQ(builder.next_turn("", "Ha"), (Tokens{'H', 1000, 'a'})) << "inside of it ids do merge";
}

TEST(NextTurn, IsJoinedByABlankLineWithoutATemplate) {
  const PromptBuilder builder(make_fake_model(), "",
                              {.use_chat_template = false, .has_turns = true});

  EXPECT_EQ(fake_text(builder.next_turn("", "And why?")), "\n\nAnd why?");
  EXPECT_EQ(fake_text(builder.next_turn("own", "And why?")), "\n\nown\n\nAnd why?");
}

TEST(NextTurn, IsNotAskedForWhereNobodyContinues) {
  const auto no_turns = [](std::span<const ChatMessage> messages, std::string_view) {
    if (messages.size() > 2) throw Error(ErrorCode::kUnsupported, "one question only");
    return contents(messages);
  };
  EXPECT_NO_THROW(PromptBuilder(std::make_shared<TemplateModel>(no_turns), "system", {}));
  EXPECT_NE(refusal(no_turns).find("one question only"), std::string::npos);
}

TEST(NextTurn, RefusesTemplatesThatCannotBeCut) {
  const auto drops_answer = refusal(in_turns([](auto messages, auto) {
    return messages[0].content + messages[1].content + messages[3].content;
  }));
  const auto drops_turn = refusal(in_turns([](auto messages, auto) {
    return messages[0].content + messages[1].content + messages[2].content;
  }));
  const auto doubles_turn = refusal(
      in_turns([](auto messages, auto) { return contents(messages) + messages[3].content; }));
  const auto answers_first = refusal(in_turns([](auto messages, auto) {
    return messages[0].content + messages[2].content + messages[1].content + messages[3].content;
  }));
  const auto asks_first = refusal(in_turns([](auto messages, auto) {
    return messages[0].content + messages[1].content + messages[3].content + messages[2].content;
  }));
  const auto moves_system = refusal(in_turns([](auto messages, auto) {
    return messages[1].content + messages[2].content + messages[0].content + messages[3].content;
  }));

  EXPECT_NE(drops_answer.find("drops or changes the answer text"), std::string::npos)
      << drops_answer;
  EXPECT_NE(drops_turn.find("drops or changes the next turn's text"), std::string::npos)
      << drops_turn;
  EXPECT_NE(doubles_turn.find("next turn's text more than once"), std::string::npos)
      << doubles_turn;
  EXPECT_NE(answers_first.find("answer before the question"), std::string::npos) << answers_first;
  EXPECT_NE(asks_first.find("next turn before the answer"), std::string::npos) << asks_first;
  EXPECT_NE(moves_system.find("system text into a later turn"), std::string::npos) << moves_system;
  EXPECT_EQ(turn_of(in_turns([](auto messages, auto) {
              return contents(messages.first(2), "]") + "[" + messages[2].content + "]";
            })),
            "][And why?]")
      << "the answer ends where the template closes it";
}

TEST(TokensBefore, CountsThoseThatHoldNothingOfTheTextFromThere) {
  const auto model =
      std::make_shared<TemplateModel>([](auto messages, auto) { return contents(messages); });
  const PromptBuilder builder(model, "", {});
  const std::string text = "abHacd";  // "Ha" is one token
  const Tokens document = model->tokenize(text, SpecialTokens::kPlainText);
  ASSERT_EQ(document.size(), 5U);

  const int expected[] = {0, 1, 2, 2, 3, 4, 5};
  for (std::size_t offset = 0; offset <= text.size(); ++offset) {
    EXPECT_EQ(builder.n_tokens_before(document, text, offset), expected[offset]) << offset;
  }
  EXPECT_EQ(builder.n_tokens_before({}, "", 0), 0);
}

// Some tokenisers put a space in front of a text: its bytes are in the pieces, but not in the text.
TEST(TokensBefore, ASpaceInFrontIsNoByteOfTheText) {
  const auto model =
      std::make_shared<TemplateModel>([](auto messages, auto) { return contents(messages); });
  const PromptBuilder builder(model, "", {});
  const Tokens document = model->tokenize(" abcd", SpecialTokens::kPlainText);

  EXPECT_EQ(builder.n_tokens_before(document, "abcd", 0), 1);
  EXPECT_EQ(builder.n_tokens_before(document, "abcd", 2), 3);
  EXPECT_EQ(builder.n_tokens_before(document, "abcd", 4), 5);
}

}  // namespace
}  // namespace swarmkv::internal
