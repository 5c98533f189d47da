// Random pipelines over more documents, and with more conversations, than there are sequence ids:
// what a plan then still calls exact, or a bound, is so.
#include <gtest/gtest.h>

#include "api/model_impl.h"
#include "engine/fake/fake_engine.h"
#include "support/core_harness.h"
#include "support/random_pipelines.h"

namespace swarmkv::testing {
namespace {

Pipeline many_documents(Dice& dice, bool turns) {
  Pipeline pipeline;
  const int n_documents = dice.pick(2, 24);
  for (int i = 0; i < n_documents; ++i) {
    DocumentSpec& spec = pipeline.documents.emplace_back();
    spec.name = "d" + std::to_string(i);
    spec.text = std::to_string(i) + dice.text(dice.pick(1, 50));
  }
  const int n_agents = dice.pick(2, 50);
  for (int i = 0; i < n_agents; ++i) {
    AgentSpec spec = agent("n" + std::to_string(i), std::to_string(i) + dice.text(9), 3);
    spec.ignore_eos = true;
    spec.priority = dice.pick(-1, 1);
    if (i > 0 && dice.one_in(3)) spec.needs = {"n" + std::to_string(dice.pick(0, i - 1))};
    if (turns && i > 0 && dice.one_in(2)) {
      spec.continues = "n" + std::to_string(dice.pick(0, i - 1));
    } else {
      spec.reads = {"d" + std::to_string(dice.pick(0, n_documents - 1))};
      if (dice.one_in(3)) spec.reads->push_back("d" + std::to_string(n_documents));
    }
    pipeline.agents.push_back(std::move(spec));
  }
  DocumentSpec& last = pipeline.documents.emplace_back();
  last.name = "d" + std::to_string(n_documents);
  last.text = dice.text(20);
  return pipeline;
}

TEST(RandomPlansOfSequenceIds, AgreeWithTheRun) {
  const std::uint64_t seed = internal::test_seed();
  int n_sure = 0, n_estimates = 0;
  for (std::uint64_t i = 0; i < 200 && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("SWARMKV_TEST_SEED=" + std::to_string(seed) + " program " + std::to_string(i));
    Dice dice{std::mt19937_64(seed * 1000003 + i)};
    const auto impl = std::make_shared<Model::Impl>();
    impl->model = internal::make_fake_model(random_model(dice));
    impl->options.engine = "fake";
    const Model model(impl);
    EngineOptions options;
    options.parallel = dice.pick(1, 3);
    options.batch_size = 64;
    const Plan plan = make_plan(model, many_documents(dice, true), options);
    options.ctx_size = plan.ctx_size;
    Engine engine(model, options);
    const RunReport report = engine.run(plan).wait();

    ASSERT_EQ(report.exit_code, 0);
    EXPECT_LE(report.peak_kv_cells, plan.n_cells_concurrent);
    (plan.sums == Plan::Sums::kEstimate ? n_estimates : n_sure) += 1;
    if (plan.sums == Plan::Sums::kExact) {
      EXPECT_EQ(report.prompt_tokens_computed, plan.n_prompt_computed);
      EXPECT_EQ(report.prompt_tokens_reused, plan.n_prompt_reused);
    } else if (plan.sums == Plan::Sums::kUpperBound) {
      EXPECT_LE(report.prompt_tokens_computed, plan.n_prompt_computed);
    }
  }
  EXPECT_GT(n_sure, 0);
  EXPECT_GT(n_estimates, 0);
}

}  // namespace
}  // namespace swarmkv::testing
