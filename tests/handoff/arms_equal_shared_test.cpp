// Every arm answers a pipeline as the shared one does, and computed what its name says. The fake
// engine's next token is a function of every visible cell, so a wrong one changes a text.
#include <gtest/gtest.h>

#include "api/model_impl.h"
#include "engine/fake/fake_engine.h"
#include "handoff/handoff.h"
#include "support/core_harness.h"
#include "support/random_pipelines.h"
#include "support/sequential_runner.h"

namespace swarmkv::testing {
namespace {

Model model_of(const internal::FakeOptions& options) {
  auto impl = std::make_shared<Model::Impl>();
  const auto fake = internal::make_fake_model(options);
  fake->faults().set_verify(true);
  impl->model = fake;
  impl->options.engine = "fake";
  return Model(impl);
}

RunReport run_with(const Model& model, const Pipeline& pipeline, const std::string& handoff,
                   bool deterministic, int batch_size) {
  EngineOptions options;
  options.handoff = handoff;
  options.deterministic = deterministic;
  options.batch_size = batch_size;
  options.ctx_size = make_plan(model, pipeline, options).ctx_size;
  Engine engine(model, options);
  return engine.run(pipeline).wait();
}

// From the agents' own numbers: what an arm has to compute, and what it did.
void check_counters(const RunReport& report, const std::string& handoff) {
  std::int64_t n_own = 0, n_asked = 0;
  const int n_document = report.documents.front().n_tokens;
  int n_agents = 0;
  for (const AgentReport& a : report.agents) {
    if (a.kind != "llm" || a.status != AgentStatus::kFinished) continue;
    ++n_agents;
    n_asked += *a.prompt_tokens;
    n_own += *a.prompt_tokens - n_document;
    const bool alone = handoff == "recompute";
    if (handoff != "shared") {  // there, common beginnings of own prompts are shared, too
      EXPECT_EQ(*a.cached_tokens, alone ? 0 : n_document) << a.name;
      EXPECT_EQ(*a.computed_tokens, *a.prompt_tokens - (alone ? 0 : n_document)) << a.name;
    }
  }
  EXPECT_EQ(report.prompt_tokens, n_asked);
  EXPECT_EQ(report.prompt_tokens_computed + report.prompt_tokens_reused, n_asked);
  if (n_agents == 0 || handoff == "shared") return;
  const std::int64_t n_documents = handoff == "recompute" ? n_agents : 1;
  EXPECT_EQ(report.prompt_tokens_computed, n_documents * n_document + n_own);
  EXPECT_EQ(report.documents.front().computed_tokens, n_documents * n_document);
}

void run_one(std::uint64_t seed) {
  Dice dice{std::mt19937_64(seed)};
  const internal::FakeOptions options = random_model(dice);
  const bool one_document =
      dice.one_in(2);  // the counts of others are the plan's, and tested there
  const Pipeline pipeline = random_pipeline(dice, one_document);
  const bool deterministic = dice.one_in(3);
  const int batch_size = dice.pick(4, 64);
  const auto expected = run_plainly(pipeline, options);
  for (const std::string& handoff : internal::handoff_names()) {
    SCOPED_TRACE(handoff);
    const Model model = model_of(options);
    const RunReport report = run_with(model, pipeline, handoff, deterministic, batch_size);
    EXPECT_EQ(report.handoff, handoff);
    for (const AgentReport& a : report.agents) {
      const PlainAnswer& plain = expected.at(a.name);
      EXPECT_EQ(std::string(to_string(a.status)), to_string(plain.status))
          << a.name << ": " << a.error.value_or("");
      if (a.status != AgentStatus::kFinished) continue;
      EXPECT_EQ(a.text, plain.text) << a.name;
      EXPECT_EQ(a.token_ids, plain.tokens) << a.name;
    }
    if (one_document) check_counters(report, handoff);
  }
}

TEST(RandomArms, AnswerAsThePlainRunnerAndComputeWhatTheyShould) {
  const std::uint64_t seed = internal::test_seed();
  for (std::uint64_t i = 0; i < internal::n_programs(400) && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("SWARMKV_TEST_SEED=" + std::to_string(seed) + " program " + std::to_string(i));
    run_one(seed * 1000003 + i);
  }
}

TEST(Arms, ComputeTheDocumentOnceForEachAgentOrOnceForAll) {
  const int n_agents = 6;
  for (const std::string& handoff : internal::handoff_names()) {
    SCOPED_TRACE(handoff);
    Pipeline pipeline = pipeline_of({}, std::string(200, 'd'));
    int n_own = 0;
    for (int i = 0; i < n_agents; ++i) {
      // The separator in front is common to all, far below what would be shared by accident.
      pipeline.agents.push_back(agent("a" + std::to_string(i), std::to_string(i) + " why?", 5));
      pipeline.agents.back().ignore_eos = true;
    }
    const Model model = fake_model();
    const RunReport report = run_with(model, pipeline, handoff, false, 64);
    ASSERT_EQ(report.exit_code, 0);
    const int n_document = report.documents.front().n_tokens;
    for (const AgentReport& a : report.agents) n_own += *a.prompt_tokens - n_document;
    EXPECT_EQ(report.prompt_tokens_computed,
              (handoff == "recompute" ? n_agents : 1) * n_document + n_own);
  }
}

TEST(Arms, PlanForOneAgentAtATime) {
  const Model model = fake_model();
  Pipeline pipeline = pipeline_of({agent("a", "one", 10), agent("b", "two", 20)});
  const Plan shared = make_plan(model, pipeline, {});
  EngineOptions options;
  options.handoff = "snapshot";
  const Plan alone = make_plan(model, pipeline, options);
  EXPECT_EQ(alone.ctx_size, alone.n_cells_largest);
  EXPECT_LT(alone.ctx_size, shared.ctx_size);
  EXPECT_EQ(alone.parallel, 1);
  options.handoff = "copy";
  EXPECT_THROW((void)make_plan(model, pipeline, options), Error);
  EXPECT_THROW(Engine(model, options), Error);
}

}  // namespace
}  // namespace swarmkv::testing
