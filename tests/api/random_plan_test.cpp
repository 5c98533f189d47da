// Random pipelines: what a plan calls exact is what the run counts, what it calls a bound is never
// exceeded.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "api/model_impl.h"
#include "engine/fake/fake_engine.h"
#include "support/core_harness.h"
#include "support/random_pipelines.h"

namespace swarmkv::testing {
namespace {

/// How many plans were exact, or a bound, in the mode of that name.
struct Seen {
  std::map<std::string, int> n_exact, n_bounds;
};

std::string mode_of(const EngineOptions& options) {
  if (options.handoff == "recompute") return "recompute";
  if (options.handoff != "shared") return "copied";
  if (options.deterministic) return "deterministic";
  return options.parallel > 0 ? "few at once" : "all at once";
}

void check(const Plan& plan, const RunReport& report, const std::string& mode, Seen& seen) {
  EXPECT_LE(report.peak_kv_cells, plan.n_cells_concurrent);
  for (std::size_t i = 0; i < plan.agents.size(); ++i) {
    const AgentReport& real = report.agents[i];
    EXPECT_LE(real.prompt_tokens.value_or(0), plan.agents[i].n_prompt_max) << real.name;
  }
  const bool whole = report.n_finished == static_cast<int>(report.agents.size());
  switch (plan.sums) {
    case Plan::Sums::kExact:
      if (!whole) return;
      ++seen.n_exact[mode];
      EXPECT_EQ(report.prompt_tokens, plan.n_prompt_tokens);
      EXPECT_EQ(report.prompt_tokens_computed, plan.n_prompt_computed);
      EXPECT_EQ(report.prompt_tokens_reused, plan.n_prompt_reused);
      return;
    case Plan::Sums::kUpperBound:
      ++seen.n_bounds[mode];
      EXPECT_LE(report.prompt_tokens, plan.n_prompt_tokens);
      EXPECT_LE(report.prompt_tokens_computed, plan.n_prompt_computed);
      return;
    case Plan::Sums::kEstimate:
      return;
  }
}

// Few agents at once, one at a time, and every way to hand a document over.
EngineOptions random_options(Dice& dice) {
  EngineOptions options;
  options.batch_size = dice.pick(4, 64);
  options.deterministic = dice.one_in(5);
  if (dice.one_in(2)) options.parallel = dice.pick(1, 4);
  const char* const arms[] = {"recompute", "snapshot", "device"};
  if (dice.one_in(4)) options.handoff = arms[dice.pick(0, 2)];
  return options;
}

constexpr const char* kModes[] = {"all at once", "few at once", "deterministic", "recompute",
                                  "copied"};

// Which programs are drawn depends on the compiler, too: 400 and then as many as it takes.
TEST(RandomPlans, AgreeWithTheRun) {
  const std::uint64_t seed = internal::test_seed();
  Seen seen;
  const auto has_seen_all = [&seen] {
    return std::all_of(std::begin(kModes), std::end(kModes), [&seen](const char* mode) {
      return seen.n_exact[mode] > 0 && seen.n_bounds[mode] > 0;
    });
  };
  for (std::uint64_t i = 0; i < 400 || (i < 4000 && !has_seen_all()); ++i) {
    if (::testing::Test::HasFailure()) break;
    SCOPED_TRACE("SWARMKV_TEST_SEED=" + std::to_string(seed) + " program " + std::to_string(i));
    Dice dice{std::mt19937_64(seed * 1000003 + i)};
    const internal::FakeOptions options = random_model(dice);
    const Pipeline pipeline = random_pipeline(dice);
    const auto impl = std::make_shared<Model::Impl>();
    impl->model = internal::make_fake_model(options);
    impl->options.engine = "fake";
    const Model model(impl);
    EngineOptions engine_options = random_options(dice);
    const std::string mode = mode_of(engine_options);
    SCOPED_TRACE(mode);
    const Plan plan = make_plan(model, pipeline, engine_options);
    engine_options.ctx_size = plan.ctx_size;
    engine_options.parallel = plan.parallel;
    Engine engine(model, engine_options);

    check(plan, engine.run(plan).wait(), mode, seen);
  }
  for (const char* mode : kModes) {
    EXPECT_GT(seen.n_exact[mode], 0) << mode;
    EXPECT_GT(seen.n_bounds[mode], 0) << mode;
  }
}

}  // namespace
}  // namespace swarmkv::testing
