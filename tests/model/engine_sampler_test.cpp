// Choosing tokens on SmolLM2: greedy, drawn, penalised and constrained.
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "model/llama_fixture.h"

namespace swarmkv::internal {
namespace {

Tokens prompt(const Model& model, std::string_view text) {
  return model.tokenize(text, SpecialTokens::kPlainText);
}

Token sample_one(Context& context, int batch_index, Sampler& sampler) {
  SampleRow row{batch_index, &sampler};
  context.sample({&row, 1});
  return row.token;
}

Tokens generate(const Model& model, Context& context, SeqId seq, const Tokens& start, int n,
                const Sampling& sampling) {
  const auto sampler = model.make_sampler(sampling);
  Tokens out, next = start;
  for (int i = 0; i < n; ++i) {
    (void)feed(context, seq, next);
    const Token token = sample_one(context, static_cast<int>(next.size()) - 1, *sampler);
    if (model.is_end_of_generation(token)) break;
    out.push_back(token);
    next = {token};
  }
  context.release(seq);
  return out;
}

std::string text_of(const Model& model, const Tokens& tokens) {
  std::string text;
  for (const Token token : tokens) text += model.piece(token);
  return text;
}

TEST(EngineSampler, IsArgMaxWhenGreedy) {
  const auto model = smollm2();
  const auto context = model->make_context(small_context());
  const auto sampler = model->make_sampler(Sampling{});
  Tokens next = prompt(*model, "The capital of France is");
  std::string text;
  for (int i = 0; i < 20; ++i) {
    const std::vector<float> logits = feed(*context, 0, next);
    const auto best = std::max_element(logits.begin(), logits.end());
    const Token token = sample_one(*context, static_cast<int>(next.size()) - 1, *sampler);
    ASSERT_EQ(token, static_cast<Token>(best - logits.begin()));
    text += model->piece(token);
    next = {token};
  }
  EXPECT_NE(text.find("Paris"), std::string::npos) << text;
}

TEST(EngineSampler, DrawsTheSameAgainFromTheSameSeedAndOtherwiseNot) {
  const auto model = smollm2();
  const auto context = model->make_context(small_context());
  const Tokens start = prompt(*model, "Once upon a time");
  Sampling sampling;
  sampling.temperature = 1.0;
  // The last one is a seed that the runtime would take for "any".
  std::set<Tokens> different;
  for (const std::uint32_t seed : {1u, 2u, 3u, 0xFFFFFFFFu}) {
    sampling.seed = seed;
    const Tokens once = generate(*model, *context, 0, start, 10, sampling);
    EXPECT_EQ(generate(*model, *context, 0, start, 10, sampling), once) << seed;
    different.insert(once);
  }
  EXPECT_GE(different.size(), 3u);
}

TEST(EngineSampler, KeepsToTheBestWhenTheFiltersAreTight) {
  const auto model = smollm2();
  const auto context = model->make_context(small_context());
  const Tokens start = prompt(*model, "Once upon a time");
  const Tokens greedy = generate(*model, *context, 0, start, 10, Sampling{});
  const auto tight = [&](auto change) {
    Sampling sampling;
    sampling.temperature = 1.5;
    sampling.top_k = 0;
    sampling.top_p = 1.0;
    sampling.min_p = 0.0;
    change(sampling);
    return generate(*model, *context, 0, start, 10, sampling);
  };
  EXPECT_EQ(tight([](Sampling& s) { s.top_k = 1; }), greedy);
  EXPECT_EQ(tight([](Sampling& s) { s.top_p = 1e-9; }), greedy);
  EXPECT_EQ(tight([](Sampling& s) { s.min_p = 0.9999999; }), greedy);
  EXPECT_EQ(tight([](Sampling& s) { s.temperature = 1e-30; }), greedy);
  EXPECT_NE(tight([](Sampling&) {}), greedy);
}

TEST(EngineSampler, PenalisesRepetitionAlsoWhenGreedy) {
  const auto model = smollm2();
  const auto context = model->make_context(small_context());
  const Tokens start = prompt(*model, "la la la la la la la la la la la la");
  const Tokens plain = generate(*model, *context, 0, start, 12, Sampling{});
  Sampling sampling;
  sampling.repeat_penalty = 1e6;
  const Tokens penalised = generate(*model, *context, 0, start, 12, sampling);
  EXPECT_LT(std::set<Token>(plain.begin(), plain.end()).size(), plain.size());
  EXPECT_EQ(std::set<Token>(penalised.begin(), penalised.end()).size(), penalised.size());
  // A window of one forbids the last token only.
  sampling.repeat_last_n = 1;
  const Tokens window = generate(*model, *context, 0, start, 12, sampling);
  for (std::size_t i = 1; i < window.size(); ++i) EXPECT_NE(window[i], window[i - 1]);
  EXPECT_LT(std::set<Token>(window.begin(), window.end()).size(), window.size());
  sampling.repeat_last_n = 0;
  EXPECT_EQ(generate(*model, *context, 0, start, 12, sampling), plain);
}

TEST(EngineSampler, DoesNotChangeASiblingsChoice) {
  const auto model = smollm2();
  const auto context = model->make_context(small_context());
  const Tokens start = prompt(*model, "The capital of France is");
  const auto alone = model->make_sampler(Sampling{});
  (void)feed(*context, 0, start);
  const int last = static_cast<int>(start.size()) - 1;
  const Token expected = sample_one(*context, last, *alone);

  // Banned from the sibling's choice by a schema, on the very same row, in both orders.
  Sampling constrained;
  constrained.json_schema = R"({"type":"integer"})";
  for (const bool banned_first : {true, false}) {
    const auto banning = model->make_sampler(constrained), free = model->make_sampler(Sampling{});
    SampleRow rows[2] = {{last, banning.get()}, {last, free.get()}};
    if (!banned_first) std::swap(rows[0], rows[1]);
    context->sample(rows);
    EXPECT_EQ(rows[banned_first ? 1 : 0].token, expected);
    EXPECT_NE(rows[banned_first ? 0 : 1].token, expected);
  }
}

TEST(EngineSampler, ChoosesTheSameWhetherRowsAreSplitOverThreadsOrNot) {
  const auto model = smollm2();
  ContextOptions options = small_context(512, 16, 64);
  options.n_threads_batch = 3;
  const auto context = model->make_context(options);
  Batch batch;
  for (SeqId seq = 0; seq < 16; ++seq) {
    const Tokens tokens = some_tokens(*model, 3, seq);
    const Batch own = next_tokens(*context, seq, tokens);
    batch.insert(batch.end(), own.begin(), own.end());
  }
  ASSERT_EQ(context->forward(batch), ForwardStatus::kOk);
  const auto choose = [&](bool together) {
    std::vector<std::unique_ptr<Sampler>> samplers;
    std::vector<SampleRow> rows;
    for (int i = 0; i < 16; ++i) {
      Sampling sampling;
      sampling.temperature = i % 2 == 0 ? 0.0 : 0.9;
      sampling.seed = static_cast<std::uint32_t>(i);
      if (i % 5 == 0) sampling.json_schema = R"({"type":"object"})";
      samplers.push_back(model->make_sampler(sampling));
      rows.push_back({i * 3 + 2, samplers.back().get()});
    }
    if (together) {
      context->sample(rows);
    } else {
      for (SampleRow& row : rows) context->sample({&row, 1});
    }
    Tokens tokens;
    for (const SampleRow& row : rows) tokens.push_back(row.token);
    return tokens;
  };
  EXPECT_EQ(choose(true), choose(false));
}

TEST(EngineSampler, FollowsAJsonSchemaToTheEnd) {
  const auto model = smollm2();
  const auto context = model->make_context(small_context());
  const std::vector<ChatMessage> chat = {
      {"user", "Give a person as JSON with the fields name and age and a list of tags."}};
  const Tokens start =
      model->tokenize(model->render_chat(chat, "2026-01-31"), SpecialTokens::kParse);
  Sampling sampling;
  sampling.json_schema = R"({"type":"object","properties":{
      "name":{"type":"string","maxLength":12},
      "age":{"type":"integer","minimum":0,"maximum":120},
      "kind":{"enum":["human","robot"]},
      "tags":{"type":"array","items":{"type":"string","maxLength":6},"maxItems":2}},
      "required":["name","age","kind","tags"],"additionalProperties":false})";
  for (const double temperature : {0.0, 1.0, 3.0}) {
    sampling.temperature = temperature;
    const std::string text = text_of(*model, generate(*model, *context, 0, start, 200, sampling));
    const auto json = nlohmann::json::parse(text, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << temperature << ": " << text;
    EXPECT_TRUE(json.at("name").is_string());
    EXPECT_TRUE(json.at("age").is_number_integer());
    EXPECT_TRUE(json.at("kind") == "human" || json.at("kind") == "robot");
    EXPECT_LE(json.at("tags").size(), 2u);
  }
}

TEST(EngineSampler, RefusesSchemasThatAreNone) {
  const auto model = smollm2();
  const auto refused = [&](const std::string& schema, const std::string& part) {
    Sampling sampling;
    sampling.json_schema = schema;
    expect_error(ErrorCode::kInvalidArgument, part, [&] { (void)model->make_sampler(sampling); });
  };
  refused("{", "json_schema");
  refused("not json", "json_schema");
  refused(R"({"$ref":"#/nowhere"})", "json_schema");
  refused(std::string(200, '[') + std::string(200, ']'), "nests deeper than 64");
  refused(R"({"type":"string","maxLength":100000})", "repetitions");
  Sampling sampling;
  sampling.temperature = -1;
  expect_error(ErrorCode::kInvalidArgument, "temperature",
               [&] { (void)model->make_sampler(sampling); });
}

TEST(EngineSampler, BelongsToItsModel) {
  const auto model = smollm2();
  const auto other = tiny("llama");
  const auto context = model->make_context(small_context());
  (void)feed(*context, 0, prompt(*model, "Hello"));
  const auto foreign = other->make_sampler(Sampling{});
  expect_error(ErrorCode::kInvalidArgument, "not made by this context's model",
               [&] { (void)sample_one(*context, 0, *foreign); });
}

}  // namespace
}  // namespace swarmkv::internal
