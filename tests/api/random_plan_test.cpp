// Random pipelines: what a plan calls exact is what the run counts, what it calls a bound is never
// exceeded.
#include <gtest/gtest.h>

#include "api/model_impl.h"
#include "engine/fake/fake_engine.h"
#include "support/core_harness.h"
#include "support/random_pipelines.h"

namespace swarmkv::testing {
namespace {

struct Seen {
  int n_exact = 0, n_bounds = 0;
};

void check(const Plan& plan, const RunReport& report, Seen& seen) {
  EXPECT_LE(report.peak_kv_cells, plan.n_cells_concurrent);
  for (std::size_t i = 0; i < plan.agents.size(); ++i) {
    const AgentReport& real = report.agents[i];
    EXPECT_LE(real.prompt_tokens.value_or(0), plan.agents[i].n_prompt_max) << real.name;
  }
  const bool whole = report.n_finished == static_cast<int>(report.agents.size());
  switch (plan.sums) {
    case Plan::Sums::kExact:
      if (!whole) return;
      ++seen.n_exact;
      EXPECT_EQ(report.prompt_tokens, plan.n_prompt_tokens);
      EXPECT_EQ(report.prompt_tokens_computed, plan.n_prompt_computed);
      EXPECT_EQ(report.prompt_tokens_reused, plan.n_prompt_reused);
      return;
    case Plan::Sums::kUpperBound:
      ++seen.n_bounds;
      EXPECT_LE(report.prompt_tokens, plan.n_prompt_tokens);
      EXPECT_LE(report.prompt_tokens_computed, plan.n_prompt_computed);
      return;
    case Plan::Sums::kEstimate:
      return;
  }
}

TEST(RandomPlans, AgreeWithTheRun) {
  const std::uint64_t seed = internal::test_seed();
  Seen seen;
  for (std::uint64_t i = 0; i < 400 && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("SWARMKV_TEST_SEED=" + std::to_string(seed) + " program " + std::to_string(i));
    Dice dice{std::mt19937_64(seed * 1000003 + i)};
    const internal::FakeOptions options = random_model(dice);
    const Pipeline pipeline = random_pipeline(dice);
    const auto impl = std::make_shared<Model::Impl>();
    impl->model = internal::make_fake_model(options);
    impl->options.engine = "fake";
    const Model model(impl);
    EngineOptions engine_options;
    const Plan plan = make_plan(model, pipeline, engine_options);
    engine_options.ctx_size = plan.ctx_size;
    engine_options.parallel = plan.parallel;
    engine_options.batch_size = dice.pick(4, 64);
    Engine engine(model, engine_options);

    check(plan, engine.run(plan).wait(), seen);
  }
  EXPECT_GT(seen.n_exact, 0);
  EXPECT_GT(seen.n_bounds, 0);
}

}  // namespace
}  // namespace swarmkv::testing
