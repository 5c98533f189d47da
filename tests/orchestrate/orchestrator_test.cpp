#include "orchestrate/orchestrator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/fake_runner.h"
#include "support/small_stack.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

using std::chrono::milliseconds;
using testing::InstantRunner;
using testing::ManualRunner;
using testing::NodeAnswers;

std::vector<OrchestratorNode> nodes_of(std::vector<std::vector<NodeId>> needs) {
  std::vector<OrchestratorNode> nodes;
  for (std::size_t i = 0; i < needs.size(); ++i)
    nodes.push_back({std::string(1, static_cast<char>('a' + i)), needs[i], 0});
  return nodes;
}

NodeOutcome answer_with_name(NodeId node, const NodeAnswers& answers) {
  std::string text(1, static_cast<char>('a' + node));
  for (const auto& [name, answer] : answers) text += "(" + answer + ")";
  return testing::finished(text);
}

class Log final : public OrchestratorListener {
 public:
  void on_started(NodeId node) override { add("started", node); }
  void on_finished(NodeId node, const NodeOutcome&) override { add("finished", node); }
  void on_failed(NodeId node, const NodeOutcome&) override { add("failed", node); }
  void on_skipped(NodeId node, NodeId culprit) override {
    add("skipped", node, " by " + std::to_string(culprit));
  }
  void on_cancelled(NodeId node, const NodeOutcome&) override { add("cancelled", node); }

  std::vector<std::string> lines;

 private:
  void add(const char* what, NodeId node, const std::string& more = "") {
    lines.push_back(what + (" " + std::to_string(node)) + more);
  }
};

//        /-> b --\         .
//     a -|        |-> d
//        \-> c --/
TEST(Orchestrator, HandsAnswersToAJoinByName) {
  InstantRunner runner(answer_with_name);
  Log log;

  const OrchestratorResult result =
      Orchestrator(nodes_of({{}, {0}, {0}, {1, 2}}), runner, {}, &log).run();

  EXPECT_EQ(result.nodes[3].outcome.answer, "d(b(a))(c(a))");
  EXPECT_EQ(log.lines,
            (std::vector<std::string>{"started 0", "finished 0", "started 1", "finished 1",
                                      "started 2", "finished 2", "started 3", "finished 3"}));
}

TEST(Orchestrator, EndsAtOnceWithoutNodes) {
  InstantRunner runner(answer_with_name);

  EXPECT_TRUE(Orchestrator({}, runner).run().nodes.empty());
}

//   a -> b -> c     a -> d     e alone
TEST(Orchestrator, DependentsOfAFailedNodeAreSkippedAndNobodyWaitsForEver) {
  InstantRunner runner([](NodeId node, const NodeAnswers& answers) {
    return node == 0 ? testing::failed("broken", ErrorCode::kTimeout)
                     : answer_with_name(node, answers);
  });
  Log log;

  const OrchestratorResult result =
      Orchestrator(nodes_of({{}, {0}, {1}, {0}, {}}), runner, {}, &log).run();

  EXPECT_EQ(result.nodes[0].state, NodeState::kFailed);
  EXPECT_EQ(result.nodes[0].outcome.error_code, ErrorCode::kTimeout);
  for (const std::size_t node : {1u, 2u, 3u}) {
    EXPECT_EQ(result.nodes[node].state, NodeState::kSkipped);
    EXPECT_EQ(result.nodes[node].culprit, 0);
    EXPECT_EQ(result.nodes[node].outcome.error, "skipped because 'a' failed");
  }
  EXPECT_EQ(result.nodes[4].state, NodeState::kFinished);
  EXPECT_EQ(log.lines.size(), 7u);
}

TEST(Orchestrator, DependentsOfANodeThatWasCancelledAreSkipped) {
  InstantRunner runner([](NodeId node, const NodeAnswers& answers) {
    return node == 0 ? testing::cancelled() : answer_with_name(node, answers);
  });

  const OrchestratorResult result = Orchestrator(nodes_of({{}, {0}, {}}), runner).run();

  EXPECT_EQ(result.nodes[0].state, NodeState::kCancelled);
  EXPECT_EQ(result.nodes[1].outcome.error, "skipped because 'a' was cancelled");
  EXPECT_EQ(result.nodes[2].state, NodeState::kFinished);
  EXPECT_FALSE(result.cancelled);
}

TEST(Orchestrator, ARunnerThatThrowsFailsItsNodeOnly) {
  for (const bool standard : {true, false}) {
    InstantRunner runner([&](NodeId node, const NodeAnswers& answers) -> NodeOutcome {
      if (node != 1) return answer_with_name(node, answers);
      if (standard) throw std::runtime_error("no luck");
      throw 42;
    });

    const OrchestratorResult result = Orchestrator(nodes_of({{}, {0}, {1}, {0}}), runner).run();

    EXPECT_EQ(result.nodes[1].state, NodeState::kFailed);
    EXPECT_NE(result.nodes[1].outcome.error.find(standard ? "no luck" : "unknown exception"),
              std::string::npos);
    EXPECT_EQ(result.nodes[2].state, NodeState::kSkipped);
    EXPECT_EQ(result.nodes[3].state, NodeState::kFinished);
  }
}

TEST(Orchestrator, ANodeWhoseOutcomeWasLostFailsInsteadOfHangingTheRun) {
  ManualRunner runner;
  runner.on_start = [&](NodeId node) { runner.dones.erase(node); };

  const OrchestratorResult result = Orchestrator(nodes_of({{}, {0}}), runner).run();

  EXPECT_EQ(result.nodes[0].state, NodeState::kFailed);
  EXPECT_NE(result.nodes[0].outcome.error.find("dropped"), std::string::npos);
  EXPECT_EQ(result.nodes[1].state, NodeState::kSkipped);
}

TEST(Orchestrator, IgnoresASecondOutcomeAndOneThatComesAfterTheEnd) {
  ManualRunner runner;
  runner.on_start = [&](NodeId node) {
    runner.dones[node](node, testing::finished("first"));
    runner.dones[node](node, testing::failed("second"));
    runner.dones[node](99, testing::failed("of no node"));
  };
  OrchestratorResult result;
  {
    Orchestrator orchestrator(nodes_of({{}, {0}}), runner);
    result = orchestrator.run();
  }

  runner.dones[0](0, testing::failed("late"));

  EXPECT_EQ(result.nodes[0].state, NodeState::kFinished);
  EXPECT_EQ(result.nodes[0].outcome.answer, "first");
  EXPECT_EQ(result.nodes[1].state, NodeState::kFinished);
}

TEST(Orchestrator, FailFastCancelsTheRest) {
  ManualRunner runner;
  runner.on_start = [&](NodeId node) {
    if (node == 2) runner.dones[1](1, testing::failed("broken"));
  };
  runner.on_cancel = [&](NodeId node) { runner.dones[node](node, testing::cancelled()); };
  OrchestratorOptions options;
  options.fail_fast = true;

  const OrchestratorResult result =
      Orchestrator(nodes_of({{}, {}, {}, {0}, {1}}), runner, options).run();

  EXPECT_TRUE(result.failed_fast);
  EXPECT_EQ(result.nodes[0].state, NodeState::kCancelled);
  EXPECT_EQ(result.nodes[0].outcome.error, "stopped: 'b' failed and fail-fast is on");
  EXPECT_EQ(result.nodes[1].state, NodeState::kFailed);
  EXPECT_EQ(result.nodes[2].state, NodeState::kCancelled);
  EXPECT_EQ(result.nodes[3].state, NodeState::kCancelled);
  EXPECT_EQ(result.nodes[4].state, NodeState::kSkipped);
  EXPECT_EQ(runner.cancels, (std::vector<NodeId>{0, 2}));
}

TEST(Orchestrator, CancelFromAnotherThreadStopsWhatIsUnfinishedAndKeepsWhatIsDone) {
  ManualRunner runner;
  std::promise<void> second_started;
  runner.on_start = [&](NodeId node) {
    if (node == 0) runner.dones[0](0, testing::finished("kept"));
    if (node == 1) second_started.set_value();
  };
  runner.on_cancel = [&](NodeId node) { runner.dones[node](node, testing::cancelled()); };
  Orchestrator orchestrator(nodes_of({{}, {0}, {1}}), runner);
  std::thread other([&] {
    second_started.get_future().wait();
    orchestrator.cancel();
  });

  const OrchestratorResult result = orchestrator.run();
  other.join();

  EXPECT_TRUE(result.cancelled);
  EXPECT_EQ(result.nodes[0].outcome.answer, "kept");
  EXPECT_EQ(result.nodes[1].state, NodeState::kCancelled);
  EXPECT_EQ(result.nodes[2].state, NodeState::kCancelled)
      << "not skipped: the whole run was stopped";
}

TEST(Orchestrator, CancelBeforeTheRunStartsNothing) {
  InstantRunner runner(answer_with_name);
  Orchestrator orchestrator(nodes_of({{}, {0}}), runner);
  orchestrator.cancel();

  const OrchestratorResult result = orchestrator.run();

  EXPECT_TRUE(runner.started.empty());
  EXPECT_EQ(result.nodes[0].state, NodeState::kCancelled);
}

TEST(Orchestrator, ANodeThatFinishesWhileItIsCancelledCounts) {
  ManualRunner runner;
  Orchestrator* running = nullptr;
  runner.on_start = [&](NodeId) { running->cancel(); };
  runner.on_cancel = [&](NodeId node) {
    runner.dones[node](node, testing::finished("just in time"));
  };
  Orchestrator orchestrator(nodes_of({{}, {0}}), runner);
  running = &orchestrator;

  const OrchestratorResult result = orchestrator.run();

  EXPECT_EQ(result.nodes[0].state, NodeState::kFinished);
  EXPECT_EQ(result.nodes[1].state, NodeState::kCancelled);
}

TEST(Orchestrator, StopsWhenTheTimeOfTheRunIsOver) {
  ManualRunner runner;
  runner.on_cancel = [&](NodeId node) { runner.dones[node](node, testing::cancelled()); };
  OrchestratorOptions options;
  options.timeout = milliseconds(20);

  const OrchestratorResult result = Orchestrator(nodes_of({{}, {0}}), runner, options).run();

  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.cancelled);
  EXPECT_EQ(result.nodes[1].outcome.error, "stopped: the run's limit of 20 ms is over");
}

TEST(Orchestrator, StartsTheMostUrgentNodeFirst) {
  std::vector<OrchestratorNode> nodes = nodes_of({{}, {}, {0}, {}});
  nodes[1].priority = 1;
  nodes[2].priority = 9;
  InstantRunner runner(answer_with_name);

  static_cast<void>(Orchestrator(nodes, runner).run());

  EXPECT_EQ(runner.started, (std::vector<NodeId>{1, 0, 2, 3})) << "2 passes 3 as soon as 0 is done";
}

TEST(Orchestrator, GoesOnWithoutAListenerThatThrows) {
  class Throwing final : public OrchestratorListener {
   public:
    void on_started(NodeId) override {
      ++n_calls;
      throw 1;
    }
    int n_calls = 0;
  } listener;
  InstantRunner runner(answer_with_name);

  const OrchestratorResult result = Orchestrator(nodes_of({{}, {0}}), runner, {}, &listener).run();

  EXPECT_EQ(listener.n_calls, 1);
  EXPECT_TRUE(result.listener_failed);
  EXPECT_EQ(result.nodes[1].state, NodeState::kFinished);
}

TEST(Orchestrator, AChainOf100000AnsweredInsideStartDoesNotRecurse) {
  testing::run_on_small_stack([] {
    constexpr int kNodes = 100'000;
    std::vector<OrchestratorNode> nodes;
    for (int i = 0; i < kNodes; ++i) {
      nodes.push_back({"n" + std::to_string(i),
                       i == 0 ? std::vector<NodeId>{} : std::vector<NodeId>{i - 1}, 0});
    }
    InstantRunner runner([](NodeId, const NodeAnswers&) { return testing::finished("x"); });

    const OrchestratorResult result = Orchestrator(std::move(nodes), runner).run();

    EXPECT_EQ(result.nodes.back().state, NodeState::kFinished);
    EXPECT_EQ(runner.started.size(), static_cast<std::size_t>(kNodes));
  });
}

TEST(Orchestrator, RefusesANegativeTimeoutAndACircle) {
  InstantRunner runner(answer_with_name);
  OrchestratorOptions options;
  options.timeout = milliseconds(-1);

  EXPECT_THROW(Orchestrator(nodes_of({{}}), runner, options), Error);
  EXPECT_THROW(Orchestrator(nodes_of({{1}, {0}}), runner), Error);
}

}  // namespace
}  // namespace swarmkv::internal
