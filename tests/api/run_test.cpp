// Pipelines from start to report: answers travel along the needs, failures do not travel further.
#include <gtest/gtest.h>

#include <stdexcept>

#include "support/pipelines.h"

namespace swarmkv::testing {
namespace {

using Statuses = std::vector<std::string>;

//  left ---\             .
//           >-> both --> loud (a function)
//  right --/
TEST(Run, AJoinGetsTheAnswersOfItsNeeds) {
  const Model model =
      answering({{"alpha and beta", "both of them"}, {"say a", "alpha"}, {"say b", "beta"}});
  Engine engine(model, {});
  Answers given;
  const Pipeline pipeline = pipeline_of({
      agent("left", "say a"),
      agent("right", "say b"),
      agent("both", "{{ left }} and {{ right }}"),
      function("loud", {"both"},
               [&](const Answers& answers) {
                 given = answers;
                 return answers.at("both") + "!";
               }),
  });

  const RunReport report = engine.run(pipeline).wait();

  EXPECT_EQ(report.status, "finished");
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_EQ(report.agents[0].text, "alpha");
  EXPECT_EQ(report.agents[1].text, "beta");
  EXPECT_EQ(report.agents[2].text, "both of them");
  EXPECT_EQ(report.agents[3].text, "both of them!");
  EXPECT_EQ(given, (Answers{{"both", "both of them"}}));
}

// All that can start do so in one forward; else the first would run ahead while others are
// rendered.
TEST(Run, AgentsOfOneRankBeginTogether) {
  for (int round = 0; round < 20; ++round) {
    Engine engine(fake_model(), {});
    std::vector<AgentSpec> agents;
    for (int i = 0; i < 12; ++i) {
      agents.push_back(agent("a" + std::to_string(i), "question " + std::to_string(10 + i), 5));
      agents.back().ignore_eos = true;
    }
    const RunReport report = engine.run(pipeline_of(agents, std::string(100, 'x'))).wait();
    ASSERT_EQ(report.n_finished, 12);
    EXPECT_EQ(report.counters.n_decode_steps, 4u) << "the first token is the prompt's";
    EXPECT_EQ(report.counters.n_decode_rows, 12u * 4u);
  }
}

TEST(Run, AFunctionsAnswerIsInsertedIntoAPrompt) {
  const Model model = answering({{"the sum is 5", "right"}});
  Engine engine(model, {});

  const RunReport report =
      engine
          .run(pipeline_of({
              function("sum", {}, [](const Answers&) { return std::string("5"); }),
              agent("judge", "the sum is {{ sum }}"),
          }))
          .wait();

  EXPECT_EQ(report.agents[1].text, "right");
}

TEST(Run, AnAnswerIsNeverATemplate) {
  const Model model = answering({{"say it", "{{ judge }}"}, {"[{{ judge }}]", "taken as it is"}});
  Engine engine(model, {});

  const RunReport report =
      engine.run(pipeline_of({agent("author", "say it"), agent("judge", "[{{ author }}]")})).wait();

  EXPECT_EQ(report.agents[1].text, "taken as it is");
}

//  A -> B -> C     A -> D     E alone
Pipeline with_a(AgentSpec a) {
  a.name = "a";
  return pipeline_of({std::move(a), agent("b", "{{ a }}"), agent("c", "{{ b }}"),
                      agent("d", "{{ a }}"), agent("e", "alone")});
}

void expect_only_the_dependents_skipped(const RunReport& report, ErrorCode code) {
  EXPECT_EQ(statuses(report), (Statuses{"failed", "skipped", "skipped", "skipped", "finished"}));
  EXPECT_EQ(report.agents[0].error_code, std::string(to_string(code)));
  for (const std::size_t i : {1u, 2u, 3u})
    EXPECT_EQ(report.agents[i].skip_reason, "skipped because 'a' failed");
  EXPECT_EQ(report.status, "failed");
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_EQ(report.n_finished, 1);
  EXPECT_EQ(report.n_failed, 1);
  EXPECT_EQ(report.n_skipped, 3);
  EXPECT_EQ(report.n_cancelled, 0);
}

TEST(Run, AFailedFunctionSkipsItsDependentsAndNothingElse) {
  Engine engine(fake_model(), {});
  const auto fails =
      function("a", {}, [](const Answers&) -> std::string { throw std::runtime_error("no luck"); });

  const RunReport report = engine.run(with_a(fails)).wait();

  expect_only_the_dependents_skipped(report, ErrorCode::kInternal);
  EXPECT_NE(report.agents[0].error->find("no luck"), std::string::npos);
  EXPECT_NE(report.agents[0].error->find("a"), std::string::npos);
}

TEST(Run, AnAgentThatRunsOutOfTimeSkipsItsDependentsAndNothingElse) {
  ModelOptions options;
  options.fake_delay_ms = 1;
  Engine engine(fake_model(options), room_for_talkers());
  AgentSpec slow = talker("a");
  slow.timeout = std::chrono::milliseconds(30);
  Pipeline pipeline = with_a(slow);
  for (std::size_t i = 1; i < 5; ++i) pipeline.agents[i].max_tokens = 4;

  expect_only_the_dependents_skipped(engine.run(pipeline).wait(), ErrorCode::kTimeout);
}

TEST(Run, WhateverAFunctionThrowsEndsTheRunCleanlyAndTheEngineGoesOn) {
  EngineOptions one_thread;
  one_thread.function_threads = 1;
  Engine engine(fake_model(), one_thread);
  const auto chain = [](std::size_t thrower, bool standard) {
    std::vector<AgentSpec> nodes;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::vector<std::string> needs =
          i == 0 ? std::vector<std::string>{}
                 : std::vector<std::string>{"f" + std::to_string(i - 1)};
      nodes.push_back(function("f" + std::to_string(i), needs, [=](const Answers&) -> std::string {
        if (i != thrower) return "fine";
        if (standard) throw std::runtime_error("broken");
        throw 42;
      }));
    }
    return pipeline_of(nodes);
  };
  for (const bool standard : {true, false}) {
    for (const std::size_t thrower : {0u, 1u, 2u}) {
      swarmkv::Run run = engine.run(chain(thrower, standard));
      ASSERT_TRUE(run.wait_for(std::chrono::seconds(60)));
      const RunReport report = run.wait();
      EXPECT_EQ(report.agents[thrower].status, AgentStatus::kFailed);
      EXPECT_NE(report.agents[thrower].error->find("f" + std::to_string(thrower)),
                std::string::npos)
          << *report.agents[thrower].error;
      EXPECT_EQ(report.n_finished, static_cast<int>(thrower));
    }
  }
  EXPECT_EQ(engine.run(pipeline_of({agent("after", "still there?")})).wait().exit_code, 0);
}

TEST(Run, AFunctionMayRunAPipelineOnAnotherEngine) {
  EngineOptions one_thread;
  one_thread.function_threads = 1;
  const Model model = answering({{"inner", "from inside"}});
  Engine engine(model, one_thread);
  const auto nested = function("outer", {}, [&](const Answers&) {
    Engine own(model, one_thread);
    return own.run(pipeline_of({agent("in", "inner")})).wait().agents[0].text;
  });

  EXPECT_EQ(engine.run(pipeline_of({nested})).wait().agents[0].text, "from inside");
}

TEST(Run, FailFastCancelsTheRest) {
  Engine engine(fake_model(), room_for_talkers());
  RunOptions options;
  options.fail_fast = true;
  const auto fails =
      function("bad", {}, [](const Answers&) -> std::string { throw std::runtime_error("no"); });

  const RunReport report =
      engine.run(pipeline_of({talker("long"), fails, agent("after", "{{ long }}", 8)}), options)
          .wait();

  EXPECT_EQ(report.agents[1].status, AgentStatus::kFailed);
  EXPECT_EQ(report.agents[0].status, AgentStatus::kCancelled);
  EXPECT_EQ(report.n_finished, 0);
  EXPECT_EQ(report.exit_code, 1);
}

TEST(Run, FunctionsRunAtTheSameTime) {
  EngineOptions options;
  options.function_threads = 4;
  Engine engine(fake_model(), options);
  std::atomic<int> n_inside{0};
  Gate all_inside;
  std::vector<AgentSpec> nodes;
  for (int i = 0; i < 4; ++i) {
    nodes.push_back(function("f" + std::to_string(i), {}, [&](const Answers&) {
      if (++n_inside == 4) all_inside.open();
      return std::string(all_inside.wait() ? "met" : "alone");
    }));
  }

  for (const AgentReport& a : engine.run(pipeline_of(nodes)).wait().agents)
    EXPECT_EQ(a.text, "met");
}

//  long (a megabyte) --> twenty of it --> failed; the other one goes on
TEST(Run, AnAnswerThatMakesAPromptTooLongFailsItsAgentAlone) {
  Engine engine(fake_model(), {});
  AgentSpec longer =
      function("long", {}, [](const Answers&) { return std::string(1'000'000, 'x'); });
  longer.max_tokens = 1;  // what the budget of those who insert the answer counts with
  std::string often;
  for (int i = 0; i < 20; ++i) often += "{{ long }}";
  const RunReport report =
      engine.run(pipeline_of({longer, agent("often", often), agent("other", "Who?")})).wait();

  EXPECT_EQ(statuses(report), (std::vector<std::string>{"finished", "failed", "finished"}));
  EXPECT_EQ(report.agents[1].error_code, "invalid_argument");
  EXPECT_NE(report.agents[1].error->find("[pipeline.render]"), std::string::npos);
}

TEST(Run, ADefaultStandsForAPartOfAnAnswerThatIsNoJson) {
  Engine engine(answering({{"none found", "right"}}), {});
  const RunReport report =
      engine
          .run(pipeline_of({function("f", {}, [](const Answers&) { return "{\"cut"; }),
                            agent("a", "{{ f.json.list[0] | default('none found') }}")}))
          .wait();

  EXPECT_EQ(report.agents[1].text, "right");
}

}  // namespace
}  // namespace swarmkv::testing
