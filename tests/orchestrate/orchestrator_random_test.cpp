// Random graphs on several threads against the plainest evaluation there is: in declaration order,
// one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "orchestrate/orchestrator.h"
#include "support/fake_runner.h"

namespace swarmkv::internal {
namespace {

using testing::NodeAnswers;
using testing::ThreadedRunner;

struct RandomRun {
  std::vector<OrchestratorNode> nodes;
  std::vector<NodeOutcome::Status> fate;
};

RandomRun make_run(std::mt19937& random) {
  RandomRun run;
  const auto n = static_cast<NodeId>(1 + random() % 14);
  for (NodeId node = 0; node < n; ++node) {
    OrchestratorNode spec;
    spec.name = "n" + std::to_string(node);
    spec.priority = static_cast<int>(random() % 3);
    for (NodeId need = 0; need < node; ++need) {
      if (random() % 4 != 0) continue;
      spec.needs.push_back(need);
      if (random() % 4 == 0) spec.optional_needs.push_back(need);
    }
    run.nodes.push_back(std::move(spec));
    const auto dice = random() % 10;
    run.fate.push_back(dice == 0   ? NodeOutcome::Status::kFailed
                       : dice == 1 ? NodeOutcome::Status::kCancelled
                                   : NodeOutcome::Status::kFinished);
  }
  return run;
}

std::string answer_of(const std::string& name, const NodeAnswers& answers) {
  std::size_t sum = std::hash<std::string>{}(name);
  for (const auto& [need, answer] : answers)
    sum = sum * 31 + std::hash<std::string>{}(need + "=" + answer);
  return name + ":" + std::to_string(sum);
}

struct Expected {
  std::vector<NodeState> states;
  std::vector<std::string> answers;
  std::vector<std::set<NodeId>> culprits;  // of a skipped node: any of these, whichever ended first
};

bool is_optional(const OrchestratorNode& node, NodeId need) {
  return std::find(node.optional_needs.begin(), node.optional_needs.end(), need) !=
         node.optional_needs.end();
}

Expected evaluate(const RandomRun& run) {
  const std::size_t n = run.nodes.size();
  Expected expected{std::vector<NodeState>(n), std::vector<std::string>(n),
                    std::vector<std::set<NodeId>>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    NodeAnswers answers;
    for (const NodeId need : run.nodes[i].needs) {
      const auto k = static_cast<std::size_t>(need);
      if (expected.states[k] == NodeState::kFinished) {
        answers[run.nodes[k].name] = expected.answers[k];
      } else if (is_optional(run.nodes[i], need)) {
        continue;
      } else if (expected.states[k] == NodeState::kSkipped) {
        expected.culprits[i].insert(expected.culprits[k].begin(), expected.culprits[k].end());
      } else {
        expected.culprits[i].insert(need);
      }
    }
    if (!expected.culprits[i].empty()) {
      expected.states[i] = NodeState::kSkipped;
    } else if (run.fate[i] == NodeOutcome::Status::kFinished) {
      expected.states[i] = NodeState::kFinished;
      expected.answers[i] = answer_of(run.nodes[i].name, answers);
    } else {
      expected.states[i] =
          run.fate[i] == NodeOutcome::Status::kFailed ? NodeState::kFailed : NodeState::kCancelled;
    }
  }
  return expected;
}

NodeOutcome compute(const RandomRun& run, NodeId node, const NodeAnswers& answers) {
  const auto i = static_cast<std::size_t>(node);
  if (run.fate[i] == NodeOutcome::Status::kFailed) return testing::failed("broken");
  if (run.fate[i] == NodeOutcome::Status::kCancelled) return testing::cancelled();
  return testing::finished(answer_of(run.nodes[i].name, answers));
}

TEST(OrchestratorRandom, TwoThousandGraphsEndAsAPlainEvaluationSays) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  RecordProperty("seed", std::to_string(seed));
  std::mt19937 random(seed);
  const RandomRun* current = nullptr;
  ThreadedRunner runner(4, seed, [&](NodeId node, const NodeAnswers& answers) {
    return compute(*current, node, answers);
  });

  for (int round = 0; round < 2'000; ++round) {
    const RandomRun run = make_run(random);
    const Expected expected = evaluate(run);
    current = &run;

    const OrchestratorResult result = Orchestrator(run.nodes, runner).run();

    for (std::size_t i = 0; i < run.nodes.size(); ++i) {
      SCOPED_TRACE("round " + std::to_string(round) + " node " + std::to_string(i));
      ASSERT_EQ(to_string(result.nodes[i].state), to_string(expected.states[i]));
      if (expected.states[i] == NodeState::kFinished) {
        ASSERT_EQ(result.nodes[i].outcome.answer, expected.answers[i]);
      }
      if (expected.states[i] == NodeState::kSkipped) {
        ASSERT_EQ(expected.culprits[i].count(result.nodes[i].culprit.value_or(-1)), 1u);
      }
    }
  }
}

// With a cancel at a random moment every node still ends, and whatever finished has the right
// answer.
TEST(OrchestratorRandom, ACancelAtAnyMomentEndsEveryNode) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  RecordProperty("seed", std::to_string(seed));
  std::mt19937 random(seed);
  const RandomRun* current = nullptr;
  std::atomic<Orchestrator*> running{nullptr};
  std::atomic<int> cancel_at{0};
  ThreadedRunner runner(3, seed, [&](NodeId node, const NodeAnswers& answers) {
    if (cancel_at.fetch_sub(1) == 0) running.load()->cancel();
    return compute(*current, node, answers);
  });

  for (int round = 0; round < 1'000; ++round) {
    const RandomRun run = make_run(random);
    const Expected expected = evaluate(run);
    current = &run;
    OrchestratorOptions options;
    options.fail_fast = random() % 4 == 0;
    Orchestrator orchestrator(run.nodes, runner, options);
    cancel_at = static_cast<int>(random() % (run.nodes.size() + 1));
    running = &orchestrator;

    const OrchestratorResult result = orchestrator.run();

    for (std::size_t i = 0; i < run.nodes.size(); ++i) {
      SCOPED_TRACE("round " + std::to_string(round) + " node " + std::to_string(i));
      const NodeState state = result.nodes[i].state;
      ASSERT_TRUE(state == expected.states[i] || state == NodeState::kCancelled)
          << to_string(state);
      if (state == NodeState::kFinished) {
        ASSERT_EQ(result.nodes[i].outcome.answer, expected.answers[i]);
      }
    }
  }
}

}  // namespace
}  // namespace swarmkv::internal
