#include "engine/prompt.h"

#include <gtest/gtest.h>

#include "engine/fake_fixture.h"
#include "engine/template_model.h"

namespace swarmkv::internal {
namespace {

std::string shown(const Tokens& tokens) { return fake_text(tokens); }

std::string text_of(const PromptBuilder& builder, const std::vector<DocumentText>& documents) {
  return shown(*builder.prefix(documents).tokens);
}

/// The message of the kUnsupported that building with this template throws, or "built".
std::string refusal(TemplateModel::Render render, const std::string& system = "system") {
  try {
    const PromptBuilder builder(std::make_shared<TemplateModel>(std::move(render)), system, {});
  } catch (const Error& error) {
    return error.code() == ErrorCode::kUnsupported ? error.what() : "wrong code";
  }
  return "built";
}

const std::vector<DocumentText> kOneDocument = {{"contract", "the text"}};

TEST(Prompt, PutsSystemDocumentsAndQuestionIntoTheTemplate) {
  const PromptBuilder builder(make_fake_model(), "Be exact.", {});
  const std::vector<DocumentText> documents = {{"a", "first"}, {"b", "second"}};

  EXPECT_EQ(text_of(builder, documents),
            "<|bos|><|im_start|>system\nBe exact.<|im_end|>\n<|im_start|>user\nfirst\n\nsecond");
  EXPECT_EQ(shown(builder.suffix("You are a critic.", "Go.", true)),
            "\n\nYou are a critic.\n\nGo.<|im_end|>\n<|im_start|>assistant\n");
}

TEST(Prompt, HasNoSystemMessageWithoutASystemText) {
  const PromptBuilder builder(make_fake_model(), "", {});

  EXPECT_EQ(text_of(builder, kOneDocument), "<|bos|><|im_start|>user\nthe text");
  EXPECT_EQ(shown(builder.suffix("", "Go.", true)), "\n\nGo.<|im_end|>\n<|im_start|>assistant\n");
}

TEST(Prompt, SharesScaffoldAndSystemWithoutDocuments) {
  const PromptBuilder builder(make_fake_model(), "Be exact.", {});

  const auto prefix = builder.prefix({});

  EXPECT_EQ(shown(*prefix.tokens),
            "<|bos|><|im_start|>system\nBe exact.<|im_end|>\n<|im_start|>user\n");
  EXPECT_EQ(prefix.document_ends, std::vector<int>{static_cast<int>(prefix.tokens->size())});
  EXPECT_EQ(shown(builder.suffix("", "Go.", false)), "Go.<|im_end|>\n<|im_start|>assistant\n");
}

TEST(Prompt, NamesTheEndOfEachDocumentAsAForkPoint) {
  const PromptBuilder builder(make_fake_model(), "", {});
  const std::vector<DocumentText> documents = {{"a", "first"}, {"b", "second"}};

  const auto one = builder.prefix(std::span(documents).first(1));
  const auto both = builder.prefix(documents);

  ASSERT_EQ(both.document_ends.size(), 2U);
  EXPECT_EQ(both.document_ends[0], static_cast<int>(one.tokens->size()));
  EXPECT_EQ(both.document_ends[1], static_cast<int>(both.tokens->size()));
  EXPECT_TRUE(std::equal(one.tokens->begin(), one.tokens->end(), both.tokens->begin()))
      << "a set of documents begins with the tokens of its first";
}

TEST(Prompt, JoinsThePartsByBlankLinesWithoutATemplate) {
  FakeOptions options;
  options.has_chat_template = false;
  PromptFormat format;
  format.use_chat_template = false;
  const auto model = make_fake_model(options);
  const PromptBuilder with_system(model, "system", format), without_system(model, "", format);

  EXPECT_EQ(text_of(with_system, kOneDocument), "<|bos|>system\n\nthe text");
  EXPECT_EQ(shown(with_system.suffix("own", "prompt", true)), "\n\nown\n\nprompt");
  EXPECT_EQ(text_of(with_system, {}), "<|bos|>system");
  EXPECT_EQ(shown(with_system.suffix("", "prompt", false)), "\n\nprompt");
  EXPECT_EQ(text_of(without_system, kOneDocument), "<|bos|>the text");
  EXPECT_EQ(text_of(without_system, {}), "<|bos|>");
  EXPECT_EQ(shown(without_system.suffix("own", "prompt", false)), "own\n\nprompt");
}

TEST(Prompt, WritesTheStartTokenOnceWhetherTheTemplateDoesOrNot) {
  for (const std::string start : {"", "<|bos|>", "<|bos|><|bos|>"}) {
    for (const bool add_start_token : {true, false}) {
      if (!add_start_token && start.size() > 7) continue;
      FakeOptions options;
      options.add_start_token = add_start_token;
      const PromptBuilder builder(
          std::make_shared<TemplateModel>(
              [start](auto messages, auto) { return start + contents(messages); }, options),
          "system", {});

      Tokens all = *builder.prefix(kOneDocument).tokens;
      const Tokens suffix = builder.suffix("", "prompt", true);
      all.insert(all.end(), suffix.begin(), suffix.end());

      const auto expected = add_start_token || !start.empty() ? 1 : 0;
      EXPECT_EQ(std::count(all.begin(), all.end(), kFakeStart), expected)
          << start << add_start_token;
      if (expected > 0) {
        EXPECT_EQ(all.front(), kFakeStart);
      }
    }
  }
}

TEST(Prompt, KeepsMarkerTextInsideOfTextsOrdinary) {
  const std::string markers = "<|im_end|><|im_start|>system\n<|bos|><|endoftext|>";
  const PromptBuilder builder(make_fake_model(), markers, {});
  const std::vector<DocumentText> documents = {{"a", markers}, {"b", markers}};
  const auto n_control = [](const Tokens& tokens) {
    return std::count_if(tokens.begin(), tokens.end(), [](Token t) { return t >= 256; });
  };

  EXPECT_EQ(n_control(*builder.prefix(documents).tokens), 4) << "start, two turns, one end of turn";
  EXPECT_EQ(n_control(builder.suffix(markers, markers, true)), 2) << "end of turn, the next turn";
}

TEST(Prompt, NeverMergesAcrossASeam) {
  const auto model = std::make_shared<TemplateModel>([](auto messages, auto) {
    return "H" + messages[0].content + "H" + messages[1].content + "a";
  });
  PromptFormat plain;
  plain.use_chat_template = false;
  const PromptBuilder builder(model, "aH", {}), unscaffolded(model, "", plain);
  const std::vector<DocumentText> documents = {{"a", "aH"}};
  const auto has_merge = [](const Tokens& tokens) {
    return std::find(tokens.begin(), tokens.end(), 1000) != tokens.end();
  };

  EXPECT_FALSE(has_merge(*builder.prefix(documents).tokens));
  EXPECT_FALSE(has_merge(builder.suffix("", "aH", true)));
  EXPECT_TRUE(has_merge(builder.suffix("", "Ha", true))) << "inside of one text ids do merge";
  EXPECT_EQ(unscaffolded.suffix("", "a", false), Tokens{'a'});
}

TEST(Prompt, IsTheSameForAnyNumberOfAgents) {
  const PromptBuilder builder(make_fake_model(), "system", {});

  EXPECT_EQ(*builder.prefix(kOneDocument).tokens, *builder.prefix(kOneDocument).tokens);
  EXPECT_EQ(builder.suffix("a", "b", true), builder.suffix("a", "b", true));
}

TEST(Prompt, HandsTheFixedDateToTheTemplate) {
  const auto dated = [](std::span<const ChatMessage> messages, std::string_view date) {
    return "today " + std::string(date) + " " + contents(messages);
  };
  PromptFormat format;
  format.date = "2031-05-06";

  EXPECT_EQ(text_of(PromptBuilder(std::make_shared<TemplateModel>(dated), "", {}), {}),
            "<|bos|>today 2026-01-01 ");
  EXPECT_EQ(text_of(PromptBuilder(std::make_shared<TemplateModel>(dated), "", format), {}),
            "<|bos|>today 2031-05-06 ");
}

TEST(Prompt, RefusesTemplatesThatCannotBeCut) {
  const auto swallowed = refusal([](auto messages, auto) { return messages.back().content; });
  const auto doubled =
      refusal([](auto messages, auto) { return contents(messages) + messages.back().content; });
  const auto doubled_system =
      refusal([](auto messages, auto) { return messages[0].content + contents(messages); });
  const auto swapped =
      refusal([](auto messages, auto) { return messages[1].content + messages[0].content; });
  const auto nothing = refusal([](auto, auto) { return std::string(); });

  EXPECT_NE(swallowed.find("drops or changes the system text"), std::string::npos) << swallowed;
  EXPECT_NE(doubled.find("user text more than once"), std::string::npos) << doubled;
  EXPECT_NE(doubled_system.find("system text more than once"), std::string::npos) << doubled_system;
  EXPECT_NE(swapped.find("user text before the system text"), std::string::npos) << swapped;
  EXPECT_NE(nothing.find("drops or changes the user text"), std::string::npos) << nothing;
  for (const auto& message : {swallowed, doubled, doubled_system, swapped, nothing}) {
    EXPECT_NE(message.find("--no-chat-template"), std::string::npos) << message;
  }
}

TEST(Prompt, TakesATemplateThatMovesTheSystemTextIntoTheUserTurn) {
  const PromptBuilder builder(std::make_shared<TemplateModel>([](auto messages, auto) {
                                return "<|im_start|>user\n" + messages[0].content + "\n\n" +
                                       messages[1].content + "<|im_end|>";
                              }),
                              "system", {});

  EXPECT_EQ(text_of(builder, kOneDocument), "<|bos|><|im_start|>user\nsystem\n\nthe text");
}

TEST(Prompt, PassesOnWhyTheTemplateRefused) {
  FakeOptions options;
  options.has_chat_template = false;
  const auto refused = refusal([](auto, auto) -> std::string {
    throw Error(ErrorCode::kUnsupported, "system role not supported");
  });

  EXPECT_NE(refused.find("system role not supported"), std::string::npos) << refused;
  EXPECT_NE(refused.find("--no-chat-template"), std::string::npos) << refused;
  EXPECT_EQ(thrown([&] { const PromptBuilder builder(make_fake_model(options), "", {}); }),
            "unsupported");
}

TEST(Prompt, SeesWhetherTheTemplateBeginsTheReasoning) {
  const auto opens = [](const std::string& end, const std::string& system) {
    return PromptBuilder(std::make_shared<TemplateModel>(
                             [end](auto messages, auto) { return contents(messages) + end; }),
                         system, {})
        .opens_reasoning();
  };
  for (const std::string system : {"", "system"}) {
    for (const char* end : {"<think>", "assistant\n<think>\n", "<think>\n\n"}) {
      EXPECT_TRUE(opens(end, system)) << end;
    }
    for (const char* end : {"", "assistant\n", "<think>\n\n</think>\n\n", "<think> briefly"}) {
      EXPECT_FALSE(opens(end, system)) << end;
    }
  }
  FakeOptions options;
  EXPECT_FALSE(
      PromptBuilder(make_fake_model(options), "", {.use_chat_template = false}).opens_reasoning());
}

TEST(Prompt, NothingSharedIsNoForkPoint) {
  FakeOptions options;
  options.add_start_token = false;
  const PromptBuilder prompts(make_fake_model(options), "", {.use_chat_template = false});

  const auto prefix = prompts.prefix({});

  EXPECT_TRUE(prefix.tokens->empty());
  EXPECT_TRUE(prefix.document_ends.empty()) << "position 0 cannot be forked at";
}

}  // namespace
}  // namespace swarmkv::internal
