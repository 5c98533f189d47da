// One agent that starts early and one that reads to the end, on real weights.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "api/prepare.h"
#include "model/llama_fixture.h"
#include "support/model_files.h"
#include "swarmkv/swarmkv.h"

namespace swarmkv::testing {

/// How far the document was when an agent's first token came, by the order of events: no clock is
/// read.
class FirstTokenWatch final : public Observer {
 public:
  explicit FirstTokenWatch(std::string agent) : agent_(std::move(agent)) {}
  void on_event(const Event& event) override {
    const std::lock_guard lock(mutex_);
    if (event.type == EventType::kDocumentProgress) n_tokens_ = event.n_tokens;
    if (event.type == EventType::kAgentFirstToken && event.name == agent_) seen_ = n_tokens_;
  }
  /// Prompt tokens up to the end of the document that were there; unset = it never wrote one.
  [[nodiscard]] std::optional<int> n_tokens() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  mutable std::mutex mutex_;
  const std::string agent_;
  int n_tokens_ = 0;
  std::optional<int> seen_;
};

class EarlyStartRig {
 public:
  static constexpr int kAnswer = 16;

  /// Reads `text`; 'early' waits for `watermark` tokens of it. A forward takes `batch` tokens.
  EarlyStartRig(std::string text, int watermark, int batch)
      : model_(Model::load({.path = internal::smollm2_path()})),
        watermark_(watermark),
        batch_(batch) {
    DocumentSpec document;
    document.name = "licence";
    document.text = std::move(text);
    document_ = model_.tokenize(*document.text);
    pipeline_.documents.push_back(std::move(document));
    pipeline_.agents = {asks("early", "Which licence is this?"), asks("end", "What ends it?")};
    pipeline_.agents[0].ready_after.kind = ReadyAfter::Kind::kTokens;
    pipeline_.agents[0].ready_after.value = watermark;
  }

  [[nodiscard]] int n_document() const { return static_cast<int>(document_.size()); }

  void expect_first_token_before_two_fifths() const {
    const auto watch = std::make_shared<FirstTokenWatch>("early");
    RunOptions run;
    run.observers.push_back(watch);
    Engine engine(model_, options(false));

    const RunReport report = engine.run(pipeline_, run).wait();

    ASSERT_EQ(report.n_finished, 2) << report.agents[0].error.value_or("");
    const AgentReport &early = report.agents[0], &end = report.agents[1];
    const DocumentReport& document = report.documents[0];
    ASSERT_TRUE(watch->n_tokens()) << "the early agent wrote nothing";
    EXPECT_GE(*watch->n_tokens(), watermark_);
    EXPECT_LT(*watch->n_tokens(), n_document() * 2 / 5) << "of the document's tokens were read";
    ASSERT_TRUE(early.first_token_ms && document.ready_ms);
    EXPECT_LT(*early.first_token_ms, 0.4 * *document.ready_ms) << "as a part of the same run";
    EXPECT_LT(*early.first_token_ms, *end.prefix_ready_ms);
    EXPECT_EQ(early.ready_after, watermark_);
    // Once: what both agents had evaluated of the document, and what the engine evaluated at all.
    EXPECT_EQ(document.computed_tokens, document.n_tokens);
    EXPECT_EQ(*early.prefix_computed_tokens + *end.prefix_computed_tokens, document.n_tokens);
    const int n_own = *early.computed_tokens + *end.computed_tokens;
    EXPECT_EQ(report.counters.n_forward_tokens,
              static_cast<std::uint64_t>(document.n_tokens + n_own + 2 * (kAnswer - 1)));
  }

  /// The early agent's ids are those of one request over the tokens it sees, cut here by hand.
  void expect_ids_of_a_plain_request() const {
    Engine shared(model_, options(true));
    const Plan plan = make_plan(model_, pipeline_, options(true));
    const RunReport report = shared.run(plan).wait();
    ASSERT_EQ(report.n_finished, 2) << report.agents[0].error.value_or("");

    const Request request = plain_request(*plan.prepared);
    ASSERT_FALSE(HasFailure()) << "the prompt could not be put together";
    Engine alone(model_, options(true));
    const Result result = alone.submit(request).wait();

    ASSERT_EQ(result.state, RequestState::kFinished) << result.error;
    EXPECT_EQ(report.agents[0].prompt_tokens, request.n_prompt());
    EXPECT_EQ(report.agents[0].token_ids, result.tokens);
    EXPECT_EQ(result.tokens.size(), static_cast<std::size_t>(kAnswer));
    // A prompt of other tokens would be noticed.
    Request other = request;
    other.suffix = plan.prepared->agents[1].own;
    EXPECT_NE(alone.submit(other).wait().tokens, result.tokens);
  }

 private:
  static bool HasFailure() { return ::testing::Test::HasFailure(); }

  static AgentSpec asks(std::string name, std::string prompt) {
    AgentSpec spec;
    spec.name = std::move(name);
    spec.prompt = std::move(prompt);
    spec.max_tokens = kAnswer;
    spec.ignore_eos = true;
    return spec;
  }

  [[nodiscard]] EngineOptions options(bool deterministic) const {
    EngineOptions options;
    options.ctx_size = n_document() + 512;
    options.batch_size = batch_;
    options.parallel = 2;  // a batch holds at least as many tokens as agents may decode
    options.threads = 2;
    options.deterministic = deterministic;
    return options;
  }

  // The whole prompt of 'end', which waits for nothing, up to the mark, and behind it the question
  // of 'early'.
  [[nodiscard]] Request plain_request(const internal::Prepared& prepared) const {
    const Tokens& whole = *prepared.agents[1].prefix;
    const auto begin = std::search(whole.begin(), whole.end(), document_.begin(), document_.end());
    EXPECT_NE(begin, whole.end()) << "the document's tokens do not stand in the prompt";
    Request request;
    if (begin == whole.end()) return request;
    request.prefix = std::make_shared<const Tokens>(whole.begin(), begin + watermark_);
    request.suffix = prepared.agents[0].own;
    request.max_tokens = kAnswer;
    request.ignore_eos = true;
    return request;
  }

  Model model_;
  const int watermark_, batch_;
  Tokens document_;
  Pipeline pipeline_;
};

}  // namespace swarmkv::testing
