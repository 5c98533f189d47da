// Ends of runs: cancelled, timed out, dropped, or with their engine gone.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <optional>

#include "support/pipelines.h"
#include "support/sanitizers.h"

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

// Each run reports its own work, whatever its neighbours on the engine do at the same time.
TEST(RunLifetime, RunsThatOverlapDoNotCountEachOthersTokens) {
  EngineOptions options;
  options.ctx_size = 6000;
  ModelOptions slow;
  slow.fake_delay_ms = 1;  // so that they do overlap
  Engine engine(fake_model(slow), options);
  const auto pipeline = [](char letter) {
    return pipeline_of({agent("a", "first"), agent("b", "second")}, std::string(900, letter));
  };
  std::vector<std::int64_t> alone;
  for (const char letter : {'x', 'y'}) {
    Engine own(fake_model(), options);
    alone.push_back(own.run(pipeline(letter)).wait().prompt_tokens_computed);
  }
  std::vector<swarmkv::Run> runs;
  for (const char letter : {'x', 'y', 'x'}) runs.push_back(engine.run(pipeline(letter)));
  std::vector<RunReport> reports;
  for (swarmkv::Run& run : runs) reports.push_back(run.wait());

  EXPECT_EQ(reports[1].prompt_tokens_computed, alone[1]);
  EXPECT_EQ(reports[1].documents[0].computed_tokens, reports[1].documents[0].n_tokens);
  // The two that share a document computed it once between them.
  const int n_document = reports[0].documents[0].n_tokens;
  EXPECT_EQ(reports[0].documents[0].computed_tokens + reports[2].documents[0].computed_tokens,
            n_document);
  EXPECT_LT(reports[0].prompt_tokens_computed + reports[2].prompt_tokens_computed,
            2 * alone[0] - n_document + 1);
  for (const RunReport& report : reports) {
    EXPECT_EQ(report.prompt_tokens, report.prompt_tokens_computed + report.prompt_tokens_reused);
    EXPECT_GE(report.peak_kv_cells, n_document);
  }
}

TEST(RunLifetime, APlannedPipelineRunsFromThePlanAlone) {
  const Model model = fake_model();
  const std::string path = ::testing::TempDir() + "planned-document.txt";
  std::ofstream(path) << std::string(300, 'd');
  Pipeline pipeline = pipeline_of({agent("a", "first"), agent("b", "{{ a }}")});
  pipeline.documents[0].text.reset();
  pipeline.documents[0].path = path;
  const swarmkv::Plan plan = swarmkv::make_plan(model, pipeline, {});
  EngineOptions options;
  options.ctx_size = plan.ctx_size;
  Engine engine(model, options);
  const RunReport read_again = engine.run(pipeline).wait();
  ASSERT_EQ(std::remove(path.c_str()), 0);

  const RunReport report = engine.run(plan).wait();

  EXPECT_EQ(report.exit_code, 0);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(report.agents[i].token_ids, read_again.agents[i].token_ids);
  }
  Engine other(fake_model(), options);
  EXPECT_THROW((void)other.run(plan), swarmkv::Error);
}

TEST(RunLifetime, WhyARunWasCancelledIsWhatItsAgentsSay) {
  Engine engine(fake_model(), room_for_talkers());
  const auto started = std::make_shared<Gate>();
  const auto log = std::make_shared<EventLog>([started](const Event& event) {
    if (event.type == EventType::kAgentFirstToken) started->open();
  });
  swarmkv::Run run =
      engine.run(pipeline_of({talker("long"), agent("after", "{{ long }}")}), observed_by(log));
  ASSERT_TRUE(started->wait());
  run.cancel("the reader went away");

  const RunReport report = run.wait();
  EXPECT_EQ(report.agents[0].error, "the reader went away");
  EXPECT_EQ(report.agents[1].error, "the reader went away");
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
  if (!internal::kKeepsFreedMemory) {
    EXPECT_LT(process_number("VmRSS:"), kb + 4096);
  }
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
