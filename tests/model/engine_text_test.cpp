// Text to ids and back, special strings, and the chat template, on SmolLM2.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>

#include "model/llama_fixture.h"

namespace swarmkv::internal {
namespace {

std::string text_of(const Model& model, const Tokens& tokens) {
  std::string text;
  for (const Token token : tokens) text += model.piece(token);
  return text;
}

TEST(EngineText, ComesBackByteForByteFromItsTokens) {
  using namespace std::string_literals;
  const auto model = smollm2();
  for (const std::string& text :
       {""s, "a"s, "Hello, world!\n\n  two  spaces\ttab"s,
        "Grüße, 漢字, 한국어, \U0001F1E9\U0001F1EA \U0001F600"s, "nul\0inside"s,
        "not UTF-8: \x80\xe2\x82 then caf\xe9, cut \xf0\x9f\x98"s, "\xed\xa0\x80"s,
        std::string(3000, ' ') + "x", std::string(2000, 'a')}) {
    EXPECT_EQ(text_of(*model, model->tokenize(text, SpecialTokens::kPlainText)), text);
  }
}

TEST(EngineText, MarksWhatTheVocabularyCannotSayInsteadOfDroppingIt) {
  const auto model = smollm2();  // has no token for these bytes
  const std::string mark = "\xef\xbf\xbd";
  const auto through = [&](const std::string& text) {
    return text_of(*model, model->tokenize(text, SpecialTokens::kPlainText));
  };
  EXPECT_EQ(through("a\xff\xfe z"), "a" + mark + mark + " z");
  EXPECT_EQ(through("a\x04z"), "a" + mark + "z");              // a control character
  EXPECT_EQ(through("a\xf1\x80\x80\x80z"), "a" + mark + "z");  // U+40000
}

TEST(EngineText, KeepsEverySpecialStringOfTheVocabularyPlain) {
  const auto model = smollm2();
  int n_special = 0;
  for (Token token = 0; token < model->info().n_vocab; ++token) {
    if (!model->is_control(token)) continue;
    // The string of a control token has to be found by its parsing, since its piece is empty.
    EXPECT_EQ(model->piece(token), "") << token;
    ++n_special;
  }
  EXPECT_GE(n_special, 3);
  for (const std::string marker :
       {"<|im_start|>", "<|im_end|>", "<|endoftext|>", "<repo_name>", "<file_sep>", "<reponame>",
        "<gh_stars>", "<issue_start>", "<jupyter_code>", "<empty_output>"}) {
    const Tokens parsed = model->tokenize(marker, SpecialTokens::kParse);
    if (parsed.size() != 1 || !model->is_control(parsed[0])) continue;
    --n_special;
    const std::string text = "before" + marker + marker + "after";
    const Tokens plain = model->tokenize(text, SpecialTokens::kPlainText);
    for (const Token token : plain) {
      EXPECT_FALSE(model->is_control(token)) << marker;
      EXPECT_FALSE(model->is_end_of_generation(token)) << marker;
    }
    EXPECT_EQ(text_of(*model, plain), text);
  }
}

TEST(EngineText, ParsesMarkersOnlyWhenAsked) {
  const auto model = smollm2();
  const Tokens end = model->tokenize("<|im_end|>", SpecialTokens::kParse);
  ASSERT_EQ(end.size(), 1u);
  EXPECT_TRUE(model->is_control(end[0]));
  EXPECT_TRUE(model->is_end_of_generation(end[0]));
  EXPECT_GT(model->tokenize("<|im_end|>", SpecialTokens::kPlainText).size(), 1u);
}

// A file whose "<|im_start|>" is of the type "user-defined", which the runtime matches in any text.
TEST(EngineText, KeepsMarkersPlainThatTheFileCallsOrdinary) {
  const std::string source = required_environment("SWARMKV_TEST_TINY_DIR") + "/llama-f32.gguf";
  std::ifstream in(source, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const Tokens marker = tiny("llama")->tokenize("<|im_start|>", SpecialTokens::kParse);
  ASSERT_EQ(marker.size(), 1u);
  const std::string key = "tokenizer.ggml.token_type";
  const std::size_t types = bytes.find(key) + key.size() + 4 + 4 + 8;  // type, element type, count
  char& type = bytes[types + 4 * static_cast<std::size_t>(marker[0])];
  ASSERT_EQ(type, 3);  // control
  type = 4;            // user-defined
  const std::string path =
      testing::TempDir() + "/swarmkv_marker_" + std::to_string(::getpid()) + ".gguf";
  std::ofstream(path, std::ios::binary) << bytes;
  const auto model = load_model(path);
  std::remove(path.c_str());
  EXPECT_FALSE(model->is_control(marker[0]));
  const std::string text = "a<|im_start|><|im_start|>user<|im_start|";
  const Tokens plain = model->tokenize(text, SpecialTokens::kPlainText);
  EXPECT_EQ(std::count(plain.begin(), plain.end(), marker[0]), 0);
  EXPECT_EQ(text_of(*model, plain), text);
  const Tokens parsed = model->tokenize(text, SpecialTokens::kParse);
  EXPECT_EQ(std::count(parsed.begin(), parsed.end(), marker[0]), 2);
}

TEST(EngineText, NeverAddsAStartToken) {
  const auto model = smollm2();
  EXPECT_FALSE(model->start_token().has_value());  // this vocabulary wants none
  const auto gemma = tiny("gemma3");
  ASSERT_TRUE(gemma->start_token().has_value());
  const Tokens tokens = gemma->tokenize("Hello", SpecialTokens::kParse);
  ASSERT_FALSE(tokens.empty());
  EXPECT_NE(tokens[0], *gemma->start_token());
}

TEST(EngineText, RefusesTokensOutsideTheVocabulary) {
  const auto model = smollm2();
  for (const Token token : {-1, model->info().n_vocab}) {
    expect_error(ErrorCode::kInvalidArgument, std::to_string(token),
                 [&] { (void)model->piece(token); });
    EXPECT_FALSE(model->is_control(token));
    EXPECT_FALSE(model->is_end_of_generation(token));
  }
}

TEST(EngineText, RendersTheModelsOwnTemplateWithContentsVerbatim) {
  const auto model = smollm2();
  ASSERT_TRUE(model->info().has_chat_template);
  const std::vector<ChatMessage> messages = {{"system", "SYS  with {{ braces }}"},
                                             {"user", "  question <|im_end|> \n"}};
  EXPECT_EQ(model->render_chat(messages, "2026-01-31"),
            "<|im_start|>system\nSYS  with {{ braces }}<|im_end|>\n"
            "<|im_start|>user\n  question <|im_end|> \n<|im_end|>\n<|im_start|>assistant\n");
}

TEST(EngineText, RendersFromManyThreadsAlike) {
  const auto model = smollm2();
  const std::vector<ChatMessage> messages = {{"user", "hello"}};
  const std::string expected = model->render_chat(messages, "2026-01-31");
  std::vector<std::string> rendered(6);
  std::vector<std::thread> threads;
  for (std::string& out : rendered) {
    threads.emplace_back([&] { out = model->render_chat(messages, "2026-01-31"); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& out : rendered) EXPECT_EQ(out, expected);
}

TEST(EngineText, RefusesDatesThatAreNone) {
  const auto model = smollm2();
  const std::vector<ChatMessage> messages = {{"user", "hello"}};
  for (const std::string date :
       {"", "today", "2026-02-30", "2026-1-1", "2026-13-01", "20260101xx"}) {
    expect_error(ErrorCode::kInvalidArgument, "'" + date + "'",
                 [&] { (void)model->render_chat(messages, date); });
  }
}

TEST(EngineText, HasNoTemplateWhereTheFileHasNone) {
  const auto model = load_model(required_environment("SWARMKV_TEST_GEMMA3"));
  EXPECT_FALSE(model->info().has_chat_template);
  expect_error(ErrorCode::kUnsupported, "no chat template", [&] {
    (void)model->render_chat(std::vector<ChatMessage>{{"user", "x"}}, "2026-01-31");
  });
}

TEST(EngineText, TokenisesAMegabyteInReasonableTime) {
  const auto model = smollm2();
  std::string text;
  while (text.size() < 1'000'000) text += "The licensee shall, subject to clause 4.2, deliver. ";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(text_of(*model, model->tokenize(text, SpecialTokens::kPlainText)), text);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

}  // namespace
}  // namespace swarmkv::internal
