// Random graphs with failures, cancellations and tiny caches against a plain sequential runner: a
// wrong, missing or extra cell changes a text. The cache is checked at every step, and there are no
// more steps than the work can take. (RandomMix checks the scheduler's own books as well, which
// cannot be reached from here.)
#include "support/random_pipelines.h"

#include <gtest/gtest.h>

#include <optional>

#include "api/model_impl.h"
#include "engine/fake/fake_engine.h"
#include "support/core_harness.h"
#include "support/pipelines.h"
#include "support/sequential_runner.h"

namespace swarmkv::testing {
namespace {

struct Program {
  explicit Program(std::uint64_t seed)
      : dice{std::mt19937_64(seed)}, options(random_model(dice)), pipeline(random_pipeline(dice)) {
    const auto impl = std::make_shared<Model::Impl>();
    fake = internal::make_fake_model(options);
    fake->faults().set_verify(true);
    impl->model = fake;
    impl->options.engine = "fake";
    model.emplace(impl);
    const Plan plan = make_plan(*model, pipeline, {});
    engine_options.ctx_size = plan.n_cells_largest + (dice.one_in(2) ? 0 : dice.pick(0, 200));
    engine_options.parallel = dice.pick(1, 8);
    engine_options.batch_size = dice.pick(4, 64);
    engine_options.deterministic = dice.one_in(8);
    engine_options.function_threads = dice.pick(1, 3);
    run_options.fail_fast = dice.one_in(10);
    if (dice.one_in(4)) cancel_at = dice.pick(0, 60);
  }
  Dice dice;
  internal::FakeOptions options;
  Pipeline pipeline;
  std::shared_ptr<const internal::FakeModel> fake;
  std::optional<Model> model;
  EngineOptions engine_options;
  RunOptions run_options;
  int cancel_at = -1;  ///< event at which the run is cancelled
};

void check(const RunReport& report, const std::map<std::string, PlainAnswer>& expected,
           bool may_stop_early) {
  ASSERT_EQ(report.n_finished + report.n_failed + report.n_skipped + report.n_cancelled,
            static_cast<int>(report.agents.size()));
  for (const AgentReport& a : report.agents) {
    const PlainAnswer& plain = expected.at(a.name);
    if (a.status == AgentStatus::kFinished) {
      EXPECT_EQ(a.text, plain.text) << a.name;
      EXPECT_EQ(a.token_ids, plain.tokens) << a.name;
    }
    const bool stopped = a.status == AgentStatus::kCancelled || a.status == AgentStatus::kSkipped;
    if (may_stop_early && stopped) continue;
    EXPECT_EQ(std::string(to_string(a.status)), to_string(plain.status))
        << a.name << ": " << a.error.value_or("");
  }
}

// Forwards that one run takes at most. An agent comes in, and again after each time it had to step
// back; having stepped back twice it comes with room for everything (docs/architecture.md), and
// only its documents may go once more. Each time it reads its prompt and what it has said, a batch
// at a time, and a forward ends where others fork: at their starts and where documents end. Every
// other forward writes a token.
int most_forwards(const Program& program, const std::map<std::string, PlainAnswer>& expected) {
  constexpr int kTimes = 4;
  const auto n_forks =
      static_cast<int>(2 * program.pipeline.agents.size() + program.pipeline.documents.size() + 1);
  int n = 0;
  for (const auto& [name, answer] : expected) {
    const auto said = static_cast<int>(answer.tokens.size());
    const int read = static_cast<int>(answer.prompt.size()) + said;
    if (read > 0) n += kTimes * (read / program.engine_options.batch_size + n_forks) + said + 1;
  }
  return n;
}

/// Looks at the engine's cache before each of its forwards, and lets it fail after so many.
class Steps {
 public:
  Steps(const internal::FakeModel& fake, int most) : fake_(fake), most_(most) {
    fake.faults().on_context([this](internal::FakeContext& context) { context_ = &context; });
    fake.faults().on_forward([this](int, const internal::Batch&) {
      ++n_;
      if (fault_.empty()) fault_ = context_->integrity_fault();
    });
    fake.faults().fail_at(most + 1, internal::ForwardStatus::kFatal,
                          internal::FakeFaults::kForever);
  }
  ~Steps() { fake_.faults().clear(); }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  /// Once the engine is gone.
  void check() const {
    EXPECT_LE(n_, most_) << "forwards: the run does not end";
    EXPECT_EQ(fault_, "");
  }

 private:
  const internal::FakeModel& fake_;
  const int most_;
  internal::FakeContext* context_ = nullptr;
  int n_ = 0;
  std::string fault_;
};

void run_on(Engine& engine, Program& program, const std::map<std::string, PlainAnswer>& expected) {
  Gate now;
  int n_events = 0;
  const auto log = std::make_shared<EventLog>([&](const Event& e) {
    if (n_events++ == program.cancel_at || e.type == EventType::kRunFinished) now.open();
  });
  program.run_options.observers.push_back(log);
  swarmkv::Run run = engine.run(program.pipeline, program.run_options);
  if (program.cancel_at >= 0) {
    ASSERT_TRUE(now.wait());
    run.cancel();
  }
  ASSERT_TRUE(run.wait_for(std::chrono::seconds(120))) << "the run does not end";
  check(run.wait(), expected, program.cancel_at >= 0 || program.run_options.fail_fast);

  // The cache is warm now and holds leftovers of whatever was stopped: the same once more,
  // undisturbed.
  if (program.cancel_at >= 0) check(engine.run(program.pipeline).wait(), expected, false);
}

void run_one(std::uint64_t seed) {
  Program program(seed);
  const auto expected = run_plainly(program.pipeline, program.options);
  const int n_runs = program.cancel_at < 0 ? 1 : 2;
  const Steps steps(*program.fake, n_runs * most_forwards(program, expected));
  {
    Engine engine(*program.model, program.engine_options);
    run_on(engine, program, expected);
  }
  steps.check();
}

TEST(RandomPipelines, AnswerAsAPlainSequentialRunner) {
  const std::uint64_t seed = internal::test_seed();
  for (std::uint64_t i = 0; i < internal::n_programs(5000) && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("SWARMKV_TEST_SEED=" + std::to_string(seed) + " program " + std::to_string(i));
    run_one(seed * 1000003 + i);
  }
}

}  // namespace
}  // namespace swarmkv::testing
