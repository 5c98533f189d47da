#include "engine/fake/fake_text.h"

#include <gtest/gtest.h>

#include "engine/fake_fixture.h"
#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

std::unique_ptr<FakeContext> context_of(FakeOptions options = {}) {
  return make_fake_model(std::move(options))->make_fake_context(ContextOptions{});
}

FakeOptions endless() {
  FakeOptions options;
  options.eog_every = 0;
  return options;
}

std::string answer_to(std::string_view prompt, FakeOptions options = endless(),
                      Sampling sampling = {}, int n = 60) {
  const auto context = context_of(std::move(options));
  return generate(*context, 0, prompt, n, sampling);
}

TEST(FakeText, IsTheSameHoweverTheCellsGotThere) {
  const std::string alone = answer_to("the document and a question");
  const auto context = context_of(endless());
  feed(*context, 3, "the document");
  feed(*context, 3, " and other things");
  feed(*context, 1, "unrelated");

  context->fork(3, 2, 12);
  context->release(3);
  const std::string forked = generate(*context, 2, " and a question", 60);

  EXPECT_EQ(forked, alone);
}

TEST(FakeText, IsTheSameForRowsOfOneBatchAndAlone) {
  const std::string prompts[] = {"first", "the second one"};
  Token alone[2];
  for (int i = 0; i < 2; ++i) {
    const auto context = context_of(endless());
    alone[i] = feed(*context, 0, prompts[i]);
  }
  const auto context = context_of(endless());
  Batch both = next_tokens(*context, 5, prompts[0]);
  const Batch second = next_tokens(*context, 2, prompts[1]);
  both.insert(both.end(), second.begin(), second.end());
  FakeSampler greedy{Sampling{}};

  ASSERT_EQ(context->forward(both), ForwardStatus::kOk);
  SampleRow rows[] = {{4, &greedy}, {static_cast<int>(both.size()) - 1, &greedy}};
  context->sample(rows);

  EXPECT_EQ(rows[0].token, alone[0]);
  EXPECT_EQ(rows[1].token, alone[1]);
}

TEST(FakeText, ChangesWithEveryWrongMissingOrExtraCell) {
  const std::string right = answer_to("the document, question");

  EXPECT_NE(answer_to("the docxment, question"), right) << "wrong";
  EXPECT_NE(answer_to("the documet, question"), right) << "missing";
  EXPECT_NE(answer_to("the document,, question"), right) << "extra";
  EXPECT_NE(answer_to("eht document, question"), right) << "the same tokens in another order";
}

TEST(FakeText, IsValidUtf8WithCharactersOfSeveralTokens) {
  const std::string text = answer_to("please write a lot", endless(), {}, 4000);

  EXPECT_FALSE(find_problem_bytes(text.substr(0, text.size() - incomplete_tail(text))).any());
  EXPECT_NE(text.find("\xc3\xa9"), std::string::npos) << "no two-byte character";
  EXPECT_NE(text.find("\xe2\x82\xac"), std::string::npos) << "no three-byte character";
  EXPECT_NE(text.find("\xf0\x9f\x8c\xb1"), std::string::npos) << "no four-byte character";
  EXPECT_NE(text.find(' '), std::string::npos);
}

TEST(FakeText, EndsOnAverageWhenItWasTold) {
  FakeOptions options;
  options.eog_every = 10;
  double n_tokens = 0;

  for (int i = 0; i < 400; ++i) {
    const std::string text = answer_to("prompt " + std::to_string(i), options, {}, 1000);
    ASSERT_TRUE(text.ends_with("<|im_end|>"));
    n_tokens += static_cast<double>(text.size() - std::string("<|im_end|>").size());
  }

  EXPECT_GT(n_tokens / 400, 7);
  EXPECT_LT(n_tokens / 400, 14);
}

TEST(FakeText, NeverEndsWithoutEndOfGeneration) {
  const std::string text = answer_to("endless", endless(), {}, 3000);

  EXPECT_EQ(text.find("<|"), std::string::npos);
  EXPECT_EQ(text.size(), 3000U);
}

TEST(FakeText, DependsOnTheSeedOnlyWithATemperature) {
  const auto with = [](double temperature, std::uint32_t seed) {
    Sampling sampling;
    sampling.temperature = temperature;
    sampling.seed = seed;
    return answer_to("prompt", endless(), sampling);
  };

  EXPECT_EQ(with(0, 1), with(0, 2));
  EXPECT_EQ(with(0.7, 1), with(0.7, 1));
  EXPECT_NE(with(0.7, 1), with(0.7, 2));
  EXPECT_NE(with(0.7, 1), with(0, 1));
}

TEST(FakeText, GivesAForcedAnswerToThePromptThatCallsForIt) {
  FakeOptions options;
  options.forced = {{"parties", "Alice and \xf0\x9f\x8c\xb1"}, {"question", "second rule"}};
  const auto ask = [&](const std::string& user) {
    return answer_to("<|im_start|>user\n" + user + "<|im_end|>\n<|im_start|>assistant\n", options);
  };

  EXPECT_EQ(ask("Who are the parties?"), "Alice and \xf0\x9f\x8c\xb1<|im_end|>");
  EXPECT_EQ(ask("a question about the parties"), "Alice and \xf0\x9f\x8c\xb1<|im_end|>")
      << "the first match wins";
  EXPECT_EQ(ask("a question"), "second rule<|im_end|>");
  EXPECT_NE(ask("nothing of that"), "second rule<|im_end|>");
}

TEST(FakeText, ForcesTheAnswerAfterTheLastGenerationPromptOnly) {
  FakeOptions options;
  options.forced = {{"go", "answer"}};
  const std::string earlier =
      "<|im_start|>user\ngo<|im_end|>\n<|im_start|>assistant\nans<|im_end|>\n";

  EXPECT_EQ(
      answer_to(earlier + "<|im_start|>user\nand?<|im_end|>\n<|im_start|>assistant\n", options),
      "answer<|im_end|>");
  EXPECT_EQ(answer_to(earlier + "<|im_start|>assistant\nansw", options), "er<|im_end|>")
      << "what is already written is not written again";
}

TEST(FakeText, ForcesAnswersWithoutAChatTemplate) {
  FakeOptions options;
  options.forced = {{"go", "answer"}};

  EXPECT_EQ(answer_to("please go", options), "answer<|im_end|>");
}

TEST(FakeText, AnswersASchemaWithItsSmallestInstance) {
  Sampling sampling;
  sampling.json_schema =
      R"({"type":"object","required":["ok"],"properties":{"ok":{"type":"boolean"}}})";

  EXPECT_EQ(answer_to("prompt", endless(), sampling), R"({"ok":true}<|im_end|>)");
}

TEST(FakeText, LooksAtTheWindowOfWindowModels) {
  FakeOptions options = endless();
  options.fork_kind = ForkKind::kWindow;
  options.n_swa = 8;
  const auto kept = context_of(options);
  const auto dropped = context_of(options);
  dropped->faults().set_drop_outside_window(true);

  const std::string a = generate(*kept, 0, "a document longer than the window", 50);
  const std::string b = generate(*dropped, 0, "a document longer than the window", 50);

  EXPECT_EQ(a, b) << "dropping what nobody looks at must not change the text";
}

}  // namespace
}  // namespace swarmkv::internal
