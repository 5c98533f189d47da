// What observers hear of a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "support/pipelines.h"

namespace swarmkv::testing {
namespace {

Pipeline three_steps() {
  Pipeline pipeline = pipeline_of(
      {agent("a", "first"), agent("b", "second"), agent("join", "{{ a }} {{ b }}"),
       function("count", {"join"},
                [](const Answers& answers) { return std::to_string(answers.at("join").size()); })},
      std::string(2000, 'x'));
  for (AgentSpec& a : pipeline.agents) a.ignore_eos = true;  // so that everybody says something
  return pipeline;
}

EngineOptions small_batches() {
  EngineOptions options;
  options.batch_size = 256;
  options.parallel = 8;
  return options;
}

TEST(Events, AreNumberedWithoutGapsAndComeOneAtATime) {
  Engine engine(fake_model(), small_batches());
  const auto log = std::make_shared<EventLog>(), second = std::make_shared<EventLog>();
  RunOptions options = observed_by(log);
  options.observers.push_back(second);

  (void)engine.run(three_steps(), options).wait();

  const std::vector<Event> events = log->events();
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].seq, i);
  EXPECT_EQ(events.front().type, EventType::kRunStarted);
  EXPECT_EQ(events.back().type, EventType::kRunFinished);
  EXPECT_EQ(std::count_if(events.begin(), events.end(),
                          [](const Event& e) { return e.type == EventType::kRunFinished; }),
            1);
  EXPECT_EQ(log->names(), second->names());
  EXPECT_FALSE(log->overlapped);
}

TEST(Events, TellEachAgentsStoryInOrderAndItsWholeText) {
  Engine engine(fake_model(), small_batches());
  const auto log = std::make_shared<EventLog>();

  const RunReport report = engine.run(three_steps(), observed_by(log)).wait();

  for (const AgentReport& a : report.agents) {
    std::vector<EventType> story;
    std::string text;
    for (const Event& e : log->events()) {
      if (e.name != a.name) continue;
      text += e.type == EventType::kAgentDelta ? e.text : "";
      if (story.empty() || story.back() != e.type) story.push_back(e.type);
    }
    if (a.kind == "function") {
      EXPECT_EQ(story, (std::vector{EventType::kAgentEnqueued, EventType::kAgentStarted,
                                    EventType::kAgentFinished}));
      continue;
    }
    EXPECT_EQ(text, a.text);
    EXPECT_EQ(story, (std::vector{EventType::kAgentEnqueued, EventType::kAgentStarted,
                                  EventType::kAgentFirstToken, EventType::kAgentDelta,
                                  EventType::kAgentFinished}));
  }
}

TEST(Events, TheDocumentsProgressRisesToItsEndOnce) {
  Engine engine(fake_model(), small_batches());
  const auto log = std::make_shared<EventLog>();

  (void)engine.run(three_steps(), observed_by(log)).wait();

  int last = -1, n_ready = 0;
  for (const Event& e : log->events()) {
    if (e.type == EventType::kDocumentProgress) {
      EXPECT_EQ(e.name, "doc");
      EXPECT_GT(e.n_tokens, last);
      EXPECT_EQ(n_ready, 0);
      last = e.n_tokens;
      EXPECT_GT(e.n_total, 2000);
    }
    if (e.type != EventType::kDocumentReady) continue;
    ++n_ready;
    EXPECT_EQ(last, e.n_total);
  }
  EXPECT_EQ(n_ready, 1);
}

TEST(Events, AnObserverThatThrowsIsRemovedWithAWarningAndTheRunGoesOn) {
  Engine engine(fake_model(), {});
  for (const bool standard : {true, false}) {
    int n_heard = 0;
    const auto bad = std::make_shared<EventLog>([&](const Event& e) {
      ++n_heard;
      if (e.type != EventType::kAgentStarted) return;
      if (standard) throw std::runtime_error("cannot cope");
      throw 42;
    });
    const auto good = std::make_shared<EventLog>();
    RunOptions options = observed_by(bad);
    options.observers.push_back(good);

    Pipeline pipeline = pipeline_of({agent("a", "hello")});
    pipeline.agents[0].ignore_eos = true;  // a cut answer would be a warning, too
    const RunReport report = engine.run(pipeline, options).wait();

    EXPECT_EQ(report.exit_code, 0);
    ASSERT_EQ(report.warnings.size(), 1u);
    EXPECT_EQ(report.warnings[0].code, "SK604");
    EXPECT_NE(report.warnings[0].message.find(standard ? "cannot cope" : "unknown"),
              std::string::npos);
    EXPECT_EQ(bad->events().back().type, EventType::kAgentStarted) << "it is not called again";
    EXPECT_EQ(n_heard, static_cast<int>(bad->events().size()));
    EXPECT_EQ(good->events().back().type, EventType::kRunFinished);
  }
}

// That it may take its time: slow_observers_test.cpp.
TEST(Events, AnObserverMayUseTheEngine) {
  Engine engine(fake_model(), {});
  std::string nested;
  const auto log = std::make_shared<EventLog>([&](const Event& e) {
    if (e.type != EventType::kRunStarted) return;
    Request request;
    request.suffix = {1, 2, 3};
    (void)engine.submit(
        std::move(request));  // dropped at once: that must not wait for this very thread
    nested = "submitted";
    (void)engine.counters();
  });

  EXPECT_EQ(engine.run(pipeline_of({agent("a", "hello")}), observed_by(log)).wait().exit_code, 0);
  EXPECT_EQ(nested, "submitted");
}

TEST(Events, FailuresAndSkipsNameTheirReason) {
  Engine engine(fake_model(), {});
  const auto log = std::make_shared<EventLog>();
  const auto fails = function(
      "bad", {}, [](const Answers&) -> std::string { throw std::runtime_error("no luck"); });

  (void)engine.run(pipeline_of({fails, agent("after", "{{ bad }}")}), observed_by(log)).wait();

  std::map<EventType, Event> last;
  for (const Event& e : log->events()) last[e.type] = e;
  EXPECT_NE(last[EventType::kAgentFailed].text.find("no luck"), std::string::npos);
  EXPECT_EQ(last[EventType::kAgentFailed].code, "internal");
  EXPECT_EQ(last[EventType::kAgentSkipped].name, "after");
  EXPECT_NE(last[EventType::kAgentSkipped].text.find("'bad'"), std::string::npos);
  EXPECT_EQ(last[EventType::kRunFinished].code, "failed");
}

TEST(Events, ARunWhoseEngineFailsStillEndsWithItsLastEvent) {
  ModelOptions options;
  options.fake_fail_at_forward = 2;
  Engine engine(fake_model(options), small_batches());
  const auto log = std::make_shared<EventLog>();

  const RunReport report = engine.run(three_steps(), observed_by(log)).wait();

  EXPECT_EQ(log->events().back().type, EventType::kRunFinished);
  EXPECT_EQ(report.status, "failed");
  EXPECT_EQ(report.n_failed, 2);
  EXPECT_EQ(report.n_skipped, 2);
  EXPECT_NE(report.exit_code, 0);
  for (const std::size_t i : {0u, 1u}) EXPECT_EQ(report.agents[i].error_code, "engine_failed");
}

}  // namespace
}  // namespace swarmkv::testing
