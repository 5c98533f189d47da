// Agents that go on with the conversation of another one.
#include <gtest/gtest.h>

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

TEST(Turns, NothingStaysKeptWhenTheRunIsOver) {
  Engine engine(fake_model(), [] {
    EngineOptions options;
    options.ctx_size = 160;
    return options;
  }());
  for (int i = 0; i < 5; ++i) {
    const Pipeline pipeline =
        pipeline_of({first("a"), next("b", "a")}, "Document " + std::to_string(i));
    EXPECT_EQ(engine.run(pipeline).wait().n_finished, 2) << "run " << i;
  }
}

}  // namespace
}  // namespace swarmkv::testing
