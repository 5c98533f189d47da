// Ends of runs: cancelled, timed out, dropped, or with their engine gone.
#include <gtest/gtest.h>

#include <optional>

#include "support/pipelines.h"

namespace swarmkv::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RunLifetime, CancellingKeepsWhatIsFinished) {
  Engine engine(answering({{"quick", "done"}}), room_for_talkers());
  Gate quick_is_done, talking;
  const auto log = std::make_shared<EventLog>([&](const Event& e) {
    if (e.type == EventType::kAgentFinished && e.name == "first") quick_is_done.open();
    if (e.type == EventType::kAgentDelta && e.name == "long") talking.open();
  });
  swarmkv::Run run = engine.run(
      pipeline_of({agent("first", "quick"), talker("long"), agent("after", "{{ long }}", 8)}),
      observed_by(log));
  ASSERT_TRUE(quick_is_done.wait());
  ASSERT_TRUE(talking.wait());

  run.cancel();
  const RunReport report = run.wait();

  EXPECT_EQ(statuses(report), (std::vector<std::string>{"finished", "cancelled", "cancelled"}));
  EXPECT_EQ(report.agents[0].text, "done");
  EXPECT_FALSE(report.agents[1].text.empty()) << "what was said is kept";
  EXPECT_EQ(report.status, "cancelled");
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_EQ(log->events().back().type, EventType::kRunFinished);
  run.cancel();  // again, and too late: nothing happens
  EXPECT_EQ(run.wait().status, "cancelled");
}

TEST(RunLifetime, ARunThatIsOutOfTimeIsCancelledWithItsOwnExitCode) {
  Engine engine(fake_model(), room_for_talkers());
  RunOptions options;
  options.timeout = milliseconds(50);

  const RunReport report =
      engine.run(pipeline_of({talker("long"), agent("after", "{{ long }}", 8)}), options).wait();

  EXPECT_EQ(report.status, "timeout");
  EXPECT_EQ(report.exit_code, 124);
  EXPECT_EQ(report.n_cancelled, 2);
  EXPECT_NE(report.agents[1].error->find("50 ms"), std::string::npos) << *report.agents[1].error;
}

TEST(RunLifetime, DroppingARunCancelsIt) {
  Engine engine(fake_model(), room_for_talkers());
  Gate talking;
  const auto log = std::make_shared<EventLog>([&](const Event& e) {
    if (e.type == EventType::kAgentDelta) talking.open();
  });
  {
    const swarmkv::Run run = engine.run(pipeline_of({talker("long")}), observed_by(log));
    ASSERT_TRUE(talking.wait());
  }

  EXPECT_EQ(log->events().back().type, EventType::kRunFinished)
      << "and its last event was delivered";
  EXPECT_EQ(engine.run(pipeline_of({agent("next", "hello")})).wait().exit_code, 0);
}

TEST(RunLifetime, DroppingARunAtOnceLeavesNothingBehind) {
  Engine engine(fake_model(), room_for_talkers());
  for (int i = 0; i < 50; ++i)
    (void)engine.run(pipeline_of({talker("long"), agent("b", "short", 4)}));

  EXPECT_EQ(engine.run(pipeline_of({agent("next", "hello")})).wait().exit_code, 0);
}

TEST(RunLifetime, AnEngineThatEndsCancelsItsRunsAndTheirReportsRemain) {
  std::optional<Engine> engine(std::in_place, fake_model(), room_for_talkers());
  Gate talking;
  const auto log = std::make_shared<EventLog>([&](const Event& e) {
    if (e.type == EventType::kAgentDelta) talking.open();
  });
  swarmkv::Run run = engine->run(pipeline_of({talker("long")}), observed_by(log));
  swarmkv::Run other = engine->run(pipeline_of({talker("long"), agent("b", "{{ long }}", 8)}));
  ASSERT_TRUE(talking.wait());

  engine.reset();

  EXPECT_EQ(run.wait().status, "cancelled");
  EXPECT_EQ(other.wait().n_cancelled, 2);
  EXPECT_EQ(log->events().back().type, EventType::kRunFinished);
  run.cancel();
}

TEST(RunLifetime, AnEngineMayEndRightAfterARunBegan) {
  for (int i = 0; i < 100; ++i) {
    std::optional<Engine> engine(std::in_place, fake_model(), EngineOptions{});
    swarmkv::Run run = engine->run(pipeline_of({agent("a", "hello", 4), agent("b", "{{ a }}", 4)}));
    if (i % 2 == 0) run.cancel();
    engine.reset();
    const RunReport report = run.wait();
    EXPECT_EQ(report.n_finished + report.n_cancelled + report.n_skipped, 2);
  }
}

TEST(RunLifetime, WaitForTellsWhetherTheRunIsOver) {
  Engine engine(fake_model(), {});
  Gate go;
  swarmkv::Run run = engine.run(pipeline_of({function(
      "waits", {}, [&](const Answers&) { return std::string(go.wait() ? "went" : "gave up"); })}));

  EXPECT_FALSE(run.wait_for(milliseconds(5)));
  go.open();
  EXPECT_TRUE(run.wait_for(seconds(60)));
  EXPECT_EQ(run.wait().agents[0].text, "went");
}

TEST(RunLifetime, SeveralRunsShareAnEngineAndADocument) {
  EngineOptions options;
  options.ctx_size = 4000;
  Engine engine(fake_model(), options);
  const Pipeline pipeline =
      pipeline_of({agent("a", "first"), agent("b", "second"), agent("c", "{{ a }}{{ b }}")},
                  std::string(500, 'x'));
  const RunReport alone = engine.run(pipeline).wait();
  std::vector<swarmkv::Run> runs;
  for (int i = 0; i < 8; ++i) runs.push_back(engine.run(pipeline));

  for (swarmkv::Run& run : runs) {
    const RunReport report = run.wait();
    ASSERT_EQ(report.exit_code, 0);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(report.agents[i].token_ids, alone.agents[i].token_ids);
    EXPECT_EQ(report.documents[0].source, "cached");
  }
}

TEST(RunLifetime, RunsLeaveThreadsAndMemoryAsTheyWere) {
  EngineOptions options;
  options.ctx_size = 400;  // room for about one agent beside the document
  Engine engine(fake_model(), options);
  int i = 0;
  const auto once = [&] {
    const int kind = i++ % 3;
    Pipeline pipeline = pipeline_of({agent("a", "first", 24), agent("b", "{{ a }}", 24),
                                     function("f", {"b"},
                                              [kind](const Answers& answers) {
                                                if (kind == 1) throw 1;
                                                return answers.at("b");
                                              })},
                                    std::string(200, 'x'));
    swarmkv::Run run = engine.run(pipeline);
    if (kind == 2) run.cancel();
    (void)run.wait();
  };
  for (int n = 0; n < 50; ++n) once();
  const long threads = process_number("Threads:"), kb = process_number("VmRSS:");
  ASSERT_GT(threads, 0);
  for (int n = 0; n < 200; ++n) once();

  EXPECT_LE(process_number("Threads:"), threads);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their own memory grows
  EXPECT_LT(process_number("VmRSS:"), kb + 4096);
#else
  (void)kb;
#endif
}

TEST(RunLifetime, ThreeHundredAgentsTakeAHandfulOfThreads) {
  const long before = process_number("Threads:");
  Engine engine(fake_model(), {});
  long most = 0;
  std::vector<AgentSpec> agents;
  for (int i = 0; i < 150; ++i) {
    agents.push_back(agent("a" + std::to_string(i), "question " + std::to_string(i), 4));
    agents.push_back(function("f" + std::to_string(i), {"a" + std::to_string(i)},
                              [](const Answers& a) { return a.begin()->second; }));
  }
  const auto log = std::make_shared<EventLog>(
      [&](const Event&) { most = std::max(most, process_number("Threads:")); });

  const RunReport report =
      engine.run(pipeline_of(agents, std::string(100, 'x')), observed_by(log)).wait();

  EXPECT_EQ(report.n_finished, 300);
  EXPECT_LE(most - before, 8) << "engine, events, run, four for functions";
  EXPECT_LE(report.peak_threads, before + 8);
}

}  // namespace
}  // namespace swarmkv::testing
