// Readers that take their time: they hold up what is theirs, and nothing else of the engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "support/pipelines.h"

namespace swarmkv::testing {
namespace {

using std::chrono::milliseconds;

/// Blocks at the first event of a type until the test lets it go.
class SlowReader {
 public:
  explicit SlowReader(EventType at)
      : log(std::make_shared<EventLog>([this, at](const Event& event) {
          if (event.type != at || std::exchange(has_blocked_, true)) return;
          blocks.open();
          was_let_go = go_on.wait();
        })) {}

  Gate blocks, go_on;
  bool was_let_go = false;  ///< by the test, not by the gate's watchdog; read after the run
  const std::shared_ptr<EventLog> log;

 private:
  bool has_blocked_ = false;
};

AgentSpec speaker(std::string name, std::string prompt, int n_tokens = 16) {
  AgentSpec spec = agent(std::move(name), std::move(prompt), n_tokens);
  spec.ignore_eos = true;  // so that it has something to say
  return spec;
}

//  a --> join --> told
//  b -----^
Pipeline two_and_a_join(Gate& told) {
  return pipeline_of({speaker("a", "first"), speaker("b", "second"),
                      speaker("join", "{{ a }} {{ b }}"),
                      function("told", {"join"}, [&told](const Answers& answers) {
                        told.open();
                        return answers.at("join");
                      })});
}

std::string text_told_of(const EventLog& log, const std::string& name) {
  std::string text;
  for (const Event& event : log.events()) {
    if (event.type == EventType::kAgentDelta && event.name == name) text += event.text;
  }
  return text;
}

// Whatever it was blocked at, it hears everything, and each agent's story in its order.
void expect_all_was_told(const EventLog& log, const RunReport& report) {
  const std::vector<Event> events = log.events();
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].seq, i);
  EXPECT_EQ(events.front().type, EventType::kRunStarted);
  EXPECT_EQ(events.back().type, EventType::kRunFinished);
  EXPECT_FALSE(log.overlapped);
  for (const AgentReport& a : report.agents) {
    std::vector<EventType> story;
    for (const Event& event : events) {
      if (event.name != a.name) continue;
      if (story.empty() || story.back() != event.type) story.push_back(event.type);
    }
    std::vector<EventType> whole{EventType::kAgentEnqueued, EventType::kAgentStarted};
    if (a.kind != "function") {
      whole.insert(whole.end(), {EventType::kAgentFirstToken, EventType::kAgentDelta});
      EXPECT_EQ(text_told_of(log, a.name), a.text);
    }
    whole.push_back(EventType::kAgentFinished);
    EXPECT_EQ(story, whole) << a.name;
  }
}

TEST(SlowObservers, HoldUpNeitherTheJoinsOfTheirRunNorOtherRuns) {
  for (const EventType at : {EventType::kRunStarted, EventType::kAgentFinished}) {
    Engine engine(fake_model(), {});
    SlowReader reader(at);
    Gate told, told_other;
    swarmkv::Run run = engine.run(two_and_a_join(told), observed_by(reader.log));
    ASSERT_TRUE(reader.blocks.wait());

    EXPECT_TRUE(told.wait()) << "the join was computed, and what needs it was called";
    const auto log = std::make_shared<EventLog>();
    const RunReport other = engine.run(two_and_a_join(told_other), observed_by(log)).wait();
    EXPECT_EQ(other.exit_code, 0);
    expect_all_was_told(*log, other);
    EXPECT_FALSE(run.wait_for(milliseconds(5))) << "its last event was not delivered yet";
    EXPECT_NE(reader.log->events().back().type, EventType::kRunFinished);

    reader.go_on.open();
    const RunReport report = run.wait();
    EXPECT_TRUE(reader.was_let_go);
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_TRUE(report.warnings.empty());
    expect_all_was_told(*reader.log, report);
  }
}

// However long it takes, what waits for it is the text itself and a few events an agent.
TEST(SlowObservers, AreToldWhatTheyMissedInOnePiece) {
  Engine engine(fake_model(), room_for_talkers());
  SlowReader reader(EventType::kRunStarted);
  Gate told;
  Pipeline pipeline = pipeline_of(
      {speaker("a", "first", 500), speaker("b", "second", 500),
       function("told", {"a", "b"}, [&told](const Answers&) { return told.open(), "done"; })});
  swarmkv::Run run = engine.run(pipeline, observed_by(reader.log));
  ASSERT_TRUE(told.wait());

  reader.go_on.open();
  const RunReport report = run.wait();

  EXPECT_TRUE(reader.was_let_go);
  expect_all_was_told(*reader.log, report);
  std::map<std::string, int> n_deltas, n_tokens;
  for (const Event& event : reader.log->events()) {
    if (event.type != EventType::kAgentDelta) continue;
    ++n_deltas[event.name];
    n_tokens[event.name] = event.n_tokens;
  }
  EXPECT_EQ(n_deltas, (std::map<std::string, int>{{"a", 1}, {"b", 1}}));
  EXPECT_EQ(n_tokens, (std::map<std::string, int>{{"a", 500}, {"b", 500}}));
}

TEST(SlowObservers, DoNotKeepACancelledRunComputing) {
  EngineOptions one_at_a_time = room_for_talkers();
  one_at_a_time.parallel = 1;
  Engine engine(fake_model(), one_at_a_time);
  SlowReader reader(EventType::kAgentDelta);
  swarmkv::Run run = engine.run(pipeline_of({talker("long")}), observed_by(reader.log));
  ASSERT_TRUE(reader.blocks.wait());

  run.cancel();
  EXPECT_EQ(engine.run(pipeline_of({agent("next", "hello")})).wait().exit_code, 0)
      << "it had the only place there is";

  reader.go_on.open();
  EXPECT_EQ(run.wait().status, "cancelled");
  EXPECT_TRUE(reader.was_let_go);
  EXPECT_EQ(reader.log->events().back().type, EventType::kRunFinished);
}

TEST(SlowObservers, DoNotDelayOtherRunsOfAnEngineThatEnds) {
  std::optional<Engine> engine(std::in_place, fake_model(), room_for_talkers());
  SlowReader reader(EventType::kAgentDelta);
  Gate other_ended;
  const auto log = std::make_shared<EventLog>([&](const Event& event) {
    if (event.type == EventType::kRunFinished) other_ended.open();
  });
  swarmkv::Run run = engine->run(pipeline_of({talker("long")}), observed_by(reader.log));
  swarmkv::Run other = engine->run(pipeline_of({talker("long")}), observed_by(log));
  ASSERT_TRUE(reader.blocks.wait());

  std::thread end([&] { engine.reset(); });
  EXPECT_TRUE(other_ended.wait());
  EXPECT_EQ(other.wait().status, "cancelled");
  reader.go_on.open();
  end.join();

  EXPECT_EQ(run.wait().status, "cancelled");
  EXPECT_TRUE(reader.was_let_go);
}

TEST(SlowObservers, MayRunAnotherPipelineOnTheSameEngineAndWaitForIt) {
  Engine engine(fake_model(), {});
  std::vector<int> codes;
  const auto log = std::make_shared<EventLog>([&](const Event& event) {
    if (event.type != EventType::kAgentFinished) return;
    codes.push_back(engine.run(pipeline_of({agent("inner", event.name)})).wait().exit_code);
  });

  const Pipeline outer = pipeline_of({agent("a", "first"), agent("b", "{{ a }}")});
  EXPECT_EQ(engine.run(outer, observed_by(log)).wait().exit_code, 0);
  EXPECT_EQ(codes, (std::vector{0, 0}));
}

TEST(SlowObservers, CannotWaitForTheirOwnRun) {
  Engine engine(fake_model(), {});
  Gate has_run;
  std::optional<swarmkv::Run> run;
  const auto log = std::make_shared<EventLog>([&](const Event&) {
    EXPECT_TRUE(has_run.wait());
    EXPECT_FALSE(run->wait_for(milliseconds(1)));
    (void)run->wait();
  });
  run = engine.run(pipeline_of({speaker("a", "hello")}), observed_by(log));
  has_run.open();

  const RunReport report = run->wait();

  EXPECT_EQ(report.exit_code, 0);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0].code, "SK604");
  EXPECT_NE(report.warnings[0].message.find("own run"), std::string::npos)
      << report.warnings[0].message;
}

// Whoever drops the run from inside cannot wait for what comes after him; the engine does.
TEST(SlowObservers, MayDropTheirOwnRun) {
  for (const bool by_assignment : {false, true}) {
    std::weak_ptr<EventLog> observer;
    Gate has_run, ended;  // outlive the engine, and so its threads
    std::optional<swarmkv::Run> run;
    {
      Engine engine(fake_model(), room_for_talkers());
      auto log = std::make_shared<EventLog>([&](const Event& event) {
        if (event.type == EventType::kRunFinished) ended.open();
        if (event.type != EventType::kAgentFirstToken) return;
        EXPECT_TRUE(has_run.wait());
        if (by_assignment) {
          *run = engine.run(pipeline_of({agent("instead", "hello")}));
        } else {
          run.reset();
        }
      });
      observer = log;
      run = engine.run(pipeline_of({talker("long")}), observed_by(std::move(log)));
      has_run.open();
      ASSERT_TRUE(ended.wait()) << "it was cancelled, and its last event delivered";
      if (by_assignment) {
        EXPECT_EQ(run->wait().exit_code, 0);
      }
      EXPECT_EQ(engine.run(pipeline_of({agent("next", "hello")})).wait().exit_code, 0);
    }
    EXPECT_TRUE(observer.expired()) << "nothing is left of the run";
  }
}

TEST(SlowTextCallbacks, HoldUpNoRunAndNoOtherRequest) {
  Engine engine(fake_model(), {});
  Gate blocks, go_on, told;
  std::string heard;
  bool was_let_go = false;
  Request request;
  request.suffix = {1, 2, 3};
  request.max_tokens = 40;
  request.ignore_eos = true;
  const Request same = request;
  RequestHandle slow = engine.submit(std::move(request), [&](std::string_view text) {
    heard += text;
    blocks.open();
    was_let_go = go_on.wait();
  });
  ASSERT_TRUE(blocks.wait());

  EXPECT_EQ(engine.run(two_and_a_join(told)).wait().exit_code, 0);
  const Result other = engine.submit(same).wait();
  EXPECT_FALSE(slow.wait_for(milliseconds(5))) << "not all of its text was told";

  go_on.open();
  const Result result = slow.wait();
  EXPECT_TRUE(was_let_go);
  EXPECT_EQ(heard, result.text);
  EXPECT_EQ(result.text, other.text);
  EXPECT_TRUE(slow.wait_for(milliseconds(0)));
}

TEST(SlowTextCallbacks, ThatThrowAreNotCalledAgain) {
  Engine engine(fake_model(), {});
  int n_calls = 0;
  Request request;
  request.suffix = {1, 2, 3};
  request.max_tokens = 40;
  request.ignore_eos = true;

  const Result result = engine
                            .submit(std::move(request),
                                    [&](std::string_view) {
                                      ++n_calls;
                                      throw 1;
                                    })
                            .wait();

  EXPECT_EQ(n_calls, 1);
  EXPECT_EQ(result.tokens.size(), 40u);
}

TEST(SlowTextCallbacks, OutliveNeitherTheEngineNorTheirTurn) {
  std::optional<Engine> engine(std::in_place, fake_model(), room_for_talkers());
  Gate talking;
  std::string heard;
  Request request;
  request.suffix = {1, 2, 3};
  request.max_tokens = 100000;
  request.ignore_eos = true;
  std::optional<RequestHandle> handle = engine->submit(std::move(request), [&](std::string_view t) {
    heard += t;
    talking.open();
  });
  ASSERT_TRUE(talking.wait());

  engine.reset();

  const Result result = handle->wait();
  EXPECT_EQ(result.state, RequestState::kCancelled);
  EXPECT_EQ(heard, result.text);
}

}  // namespace
}  // namespace swarmkv::testing
