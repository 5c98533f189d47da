// Agents that go on with the conversation of another one.
#include <gtest/gtest.h>

#include <stdexcept>

#include "support/pipelines.h"
#include "support/sequential_runner.h"

namespace swarmkv::testing {
namespace {

AgentSpec next(std::string name, std::string parent, int max_tokens = 8) {
  AgentSpec spec = agent(std::move(name), "And why?", max_tokens);
  spec.needs = {parent};
  spec.continues = std::move(parent);
  spec.ignore_eos = true;
  return spec;
}

AgentSpec first(std::string name) {
  AgentSpec spec = agent(std::move(name), "What is it?", 8);
  spec.ignore_eos = true;
  return spec;
}

// end of turn, "\n", turn, "user\n" | prompt | end of turn, "\n", turn, "assistant\n"
constexpr int kAround = 1 + 1 + 1 + 5 + 1 + 1 + 1 + 10;
constexpr int kTurn = kAround + 8;

EngineOptions roomy() {
  EngineOptions options;
  options.ctx_size = 4000;
  return options;
}

TEST(Turns, ComputeTheParentsLastTokenAndTheNewTurnOnly) {
  Engine engine(fake_model(), roomy());
  const Pipeline pipeline =
      pipeline_of({first("a"), next("b", "a"), next("c", "b")}, std::string(300, 'x'));

  const RunReport report = engine.run(pipeline).wait();

  const auto expected = run_plainly(pipeline, {});
  for (const AgentReport& a : report.agents) {
    EXPECT_EQ(a.status, AgentStatus::kFinished) << a.error.value_or("");
    EXPECT_EQ(a.token_ids, expected.at(a.name).tokens) << a.name;
  }
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(report.agents[i].computed_tokens, 1 + kTurn);
    EXPECT_EQ(report.agents[i].prompt_tokens, *report.agents[i - 1].prompt_tokens + 8 + kTurn);
    EXPECT_EQ(report.agents[i].reads, std::vector<std::string>{"doc"});
  }
  EXPECT_EQ(report.agents[2].continues, "b");
  EXPECT_EQ(report.documents[0].computed_tokens, report.documents[0].n_tokens);
}

TEST(Turns, AnEndedAnswerIsWhollyInTheCache) {
  ModelOptions forced;
  forced.fake_answers = {{"What is it?", "A cat."}};
  Engine engine(fake_model(forced), roomy());
  AgentSpec a = agent("a", "What is it?", 40);

  const RunReport report = engine.run(pipeline_of({a, next("b", "a")})).wait();

  EXPECT_EQ(report.agents[0].text, "A cat.");
  EXPECT_EQ(report.agents[1].computed_tokens, kTurn);
}

TEST(Turns, SeveralContinueOneAndAreComputedTogether) {
  Engine engine(fake_model(), roomy());
  std::vector<AgentSpec> agents{first("root")};
  for (int i = 0; i < 5; ++i) {
    agents.push_back(next("b" + std::to_string(i), "root"));
    agents.back().prompt = std::to_string(i) + " why?";
  }
  const Pipeline pipeline = pipeline_of(agents, std::string(100, 'x'));
  const auto expected = run_plainly(pipeline, {});

  const RunReport report = engine.run(pipeline).wait();

  for (const AgentReport& a : report.agents) {
    EXPECT_EQ(a.token_ids, expected.at(a.name).tokens) << a.name;
    if (a.continues.empty()) continue;
    EXPECT_LE(*a.computed_tokens, kAround + 6 + 1) << a.name;
  }
}

TEST(Turns, GoWithTheirParent) {
  ModelOptions failing;
  failing.fake_ctx_train = 400;
  AgentSpec late = first("late");
  late.timeout = std::chrono::milliseconds(1);
  late.max_tokens = 200;
  failing.fake_delay_ms = 5;
  Engine engine(fake_model(failing), roomy());

  const RunReport report = engine.run(pipeline_of({late, next("b", "late")})).wait();

  EXPECT_EQ(statuses(report), (std::vector<std::string>{"failed", "skipped"}));
  EXPECT_EQ(engine.run(pipeline_of({first("a"), next("b", "a")})).wait().n_finished, 2);
}

TEST(Turns, FitTheContextTogetherOrAreRefused) {
  ModelOptions small;
  small.fake_ctx_train = 120;
  try {
    (void)make_plan(fake_model(small), pipeline_of({first("a"), next("b", "a"), next("c", "b")}),
                    {});
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kDoesNotFit);
    EXPECT_NE(std::string(e.what()).find("'c'"), std::string::npos) << e.what();
  }
}

// The most cells that were used while it ran: its own, the document's, and whatever others left.
int peak_of(const RunReport& report, const std::string& name) {
  for (const AgentReport& a : report.agents) {
    if (a.name == name) return a.peak_used_cells.value_or(-1);
  }
  return -1;
}

int peak_of_a_lone_agent(Engine& engine) {
  return peak_of(engine.run(pipeline_of({agent("alone", "What else?", 8)})).wait(), "alone");
}

AgentSpec failing(std::string name, std::vector<std::string> needs) {
  return function(std::move(name), std::move(needs),
                  [](const Answers&) -> std::string { throw std::runtime_error("told to fail"); });
}

AgentSpec also_needing(AgentSpec spec, std::string need) {
  spec.needs.push_back(std::move(need));
  return spec;
}

TEST(Turns, NothingStaysKeptWhenTheRunIsOver) {
  const std::vector<std::vector<AgentSpec>> pipelines = {
      {first("a"), next("b", "a"), next("c", "b")},
      {first("a"), next("b", "a"), next("c", "a"), next("d", "c")},
      {first("a"), failing("f", {"a"}), also_needing(next("b", "a"), "f"), next("c", "b")},
      {first("a"), failing("f", {}), also_needing(next("b", "a"), "f")}};
  Engine unused(fake_model(), roomy());
  const int expected = peak_of_a_lone_agent(unused);
  for (std::size_t i = 0; i < pipelines.size(); ++i) {
    Engine engine(fake_model(), roomy());
    const RunReport report = engine.run(pipeline_of(pipelines[i])).wait();
    EXPECT_GT(report.peak_kv_cells, expected) << "there is room for everything";
    EXPECT_EQ(peak_of_a_lone_agent(engine), expected) << "pipeline " << i;
  }
}

//  a --> f fails --> b, which would continue a, is skipped --> z finds the document alone
TEST(Turns, ASkippedContinuationReleasesItsParent) {
  const auto z_in = [](std::vector<AgentSpec> before) {
    const bool has_b = before.size() > 2;
    AgentSpec z = agent("z", has_b ? "What {{ b | default('none') }}?" : "What none?", 8);
    z.needs = {"a"};
    if (has_b) {
      z.needs.push_back("b");
      z.optional_needs = {"b"};
    }
    before.push_back(z);
    Engine engine(fake_model(), roomy());
    return peak_of(engine.run(pipeline_of(before)).wait(), "z");
  };
  const int alone = z_in({first("a"), failing("f", {"a"})});
  EXPECT_EQ(z_in({first("a"), failing("f", {"a"}), also_needing(next("b", "a"), "f")}), alone);
}

//  f fails while a is talking: nobody will continue a, and yet it can be cancelled.
TEST(Turns, AnAgentThatNobodyWillContinueCanStillBeCancelled) {
  Engine engine(fake_model(), room_for_talkers());
  Gate skipped;
  const auto log = std::make_shared<EventLog>([&](const Event& e) {
    if (e.type == EventType::kAgentSkipped) skipped.open();
  });
  auto run =
      engine.run(pipeline_of({talker("a"), failing("f", {}), also_needing(next("b", "a"), "f")}),
                 observed_by(log));
  ASSERT_TRUE(skipped.wait());
  run.cancel();
  EXPECT_EQ(statuses(run.wait()), (std::vector<std::string>{"cancelled", "failed", "skipped"}));
}

}  // namespace
}  // namespace swarmkv::testing
