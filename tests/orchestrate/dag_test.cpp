#include "orchestrate/dag.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/small_stack.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

using Nodes = std::vector<NodeId>;
using Needs = std::vector<Nodes>;

Dag::Change run(Dag& dag, NodeId node, bool ok) {
  dag.start(node);
  Dag::Change change = dag.finish(node, ok);
  EXPECT_EQ(dag.check_integrity(), "");
  return change;
}

Nodes skipped_nodes(const Dag::Change& change) {
  Nodes nodes;
  for (const Dag::Skipped& skip : change.skipped) nodes.push_back(skip.node);
  return nodes;
}

//        /-> 1 --\          .
//     0 -|        |-> 3
//        \-> 2 --/
Dag diamond() { return Dag(Needs{{}, {0}, {0}, {1, 2}}); }

TEST(Dag, StartsAJoinOnlyAfterItsLastNeed) {
  Dag dag = diamond();

  EXPECT_EQ(dag.next_ready(), 0);
  EXPECT_EQ(run(dag, 0, true).ready, (Nodes{1, 2}));
  EXPECT_EQ(run(dag, 2, true).ready, Nodes{});
  EXPECT_EQ(run(dag, 1, true).ready, Nodes{3});
  EXPECT_FALSE(dag.done());
  run(dag, 3, true);

  EXPECT_TRUE(dag.done());
  EXPECT_EQ(dag.count(NodeState::kFinished), 4);
}

TEST(Dag, OffersReadyNodesByPriorityThenDeclaration) {
  Dag dag(Needs{{}, {}, {}, {}}, {0, 5, -1, 5});
  Nodes order;
  while (const auto node = dag.next_ready()) {
    order.push_back(*node);
    dag.start(*node);
  }

  EXPECT_EQ(order, (Nodes{1, 3, 0, 2}));
}

//   0 -> 1 -> 2        3 -> 2        4 alone
TEST(Dag, SkipsOnlyWhatDependsOnAFailure) {
  Dag dag(Needs{{}, {0}, {1, 3}, {}, {}});

  const Dag::Change change = run(dag, 0, false);

  EXPECT_EQ(skipped_nodes(change), (Nodes{1, 2}));
  EXPECT_EQ(dag.culprit(1), 0);
  EXPECT_EQ(dag.culprit(2), 0) << "the node that failed, not the one between";
  EXPECT_EQ(dag.state(3), NodeState::kReady);
  EXPECT_EQ(dag.state(4), NodeState::kReady);
  run(dag, 3, true);
  run(dag, 4, true);
  EXPECT_TRUE(dag.done());
}

TEST(Dag, GivesADiamondWithTwoFailingParentsOneStatus) {
  Dag dag = diamond();
  run(dag, 0, true);
  dag.start(1);
  dag.start(2);

  const Dag::Change first = dag.finish(2, false);
  const Dag::Change second = dag.finish(1, false);

  EXPECT_EQ(skipped_nodes(first), Nodes{3});
  EXPECT_EQ(second.skipped.size(), 0u);
  EXPECT_EQ(dag.culprit(3), 2) << "the failure that was heard of first";
  EXPECT_EQ(dag.count(NodeState::kSkipped), 1);
  EXPECT_EQ(dag.check_integrity(), "");
}

TEST(Dag, SkipsTheDependentsOfACancelledNode) {
  Dag dag(Needs{{}, {0}});
  dag.start(0);

  const Dag::Change change = dag.cancel(0);

  EXPECT_EQ(skipped_nodes(change), Nodes{1});
  EXPECT_EQ(dag.state(0), NodeState::kCancelled);
  EXPECT_EQ(dag.check_integrity(), "");
}

//   0 ?-> 2 <- 1        3 needs 2        ?: 2 can do without 0
TEST(Dag, WaitsForAnOptionalNeedAndDoesWithout) {
  for (const bool first_ok : {true, false}) {
    Dag dag(Needs{{}, {}, {0, 1}, {2}}, {}, {{}, {}, {0}, {}});
    EXPECT_EQ(run(dag, 1, true).ready, Nodes{}) << "it still waits for the optional one";
    const Dag::Change change = run(dag, 0, first_ok);
    EXPECT_EQ(change.ready, Nodes{2});
    EXPECT_EQ(skipped_nodes(change), Nodes{});
  }
}

TEST(Dag, ASkippedOptionalNeedIsDoneWithout) {
  //   0 -> 1 ?-> 2
  Dag dag(Needs{{}, {0}, {1}}, {}, {{}, {}, {1}});
  const Dag::Change change = run(dag, 0, false);
  EXPECT_EQ(skipped_nodes(change), Nodes{1});
  EXPECT_EQ(change.ready, Nodes{2});
}

TEST(Dag, ARequiredNeedSkipsWhateverIsOptionalBesides) {
  Dag dag(Needs{{}, {}, {0, 1}}, {}, {{}, {}, {0}});
  EXPECT_EQ(skipped_nodes(run(dag, 1, false)), Nodes{2});
  EXPECT_EQ(run(dag, 0, false).ready, Nodes{});
  EXPECT_TRUE(dag.done());
}

TEST(Dag, CancelsEverythingThatHasNotStarted) {
  Dag dag = diamond();
  dag.start(0);

  EXPECT_EQ(dag.cancel_pending(), (Nodes{1, 2, 3}));
  EXPECT_FALSE(dag.done()) << "node 0 still runs";
  EXPECT_EQ(dag.finish(0, true).ready, Nodes{});

  EXPECT_TRUE(dag.done());
  EXPECT_EQ(dag.check_integrity(), "");
}

TEST(Dag, RefusesGraphsThatCannotRun) {
  const auto message = [](std::vector<std::vector<NodeId>> needs,
                          std::vector<int> priorities = {}) -> std::string {
    try {
      const Dag dag(std::move(needs), std::move(priorities));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return error.what();
    }
    return "no error";
  };

  EXPECT_NE(message({{0}}).find("itself"), std::string::npos);
  EXPECT_NE(message({{1}, {0}}).find("circle"), std::string::npos);
  EXPECT_NE(message({{}, {0, 0}}).find("twice"), std::string::npos);
  EXPECT_NE(message({{7}}).find("needs 7"), std::string::npos);
  EXPECT_NE(message({{-1}}).find("needs -1"), std::string::npos);
  EXPECT_NE(message({{}}, {1, 2}).find("2 priorities"), std::string::npos);
}

TEST(Dag, RefusesStepsOutOfOrder) {
  Dag dag(Needs{{}, {0}});

  EXPECT_THROW(dag.start(1), Error) << "it waits";
  EXPECT_THROW(dag.finish(0, true), Error) << "it does not run";
  dag.start(0);
  EXPECT_THROW(dag.start(0), Error);
  dag.finish(0, true);
  EXPECT_THROW(dag.finish(0, true), Error);
  EXPECT_THROW(dag.start(2), Error);
}

TEST(Dag, FindsTheCriticalPath) {
  const Dag dag = diamond();

  EXPECT_EQ(dag.critical_path(std::vector<double>{1, 5, 2, 1}), (Nodes{0, 1, 3}));
  EXPECT_EQ(dag.critical_path(std::vector<double>{1, 2, 5, 1}), (Nodes{0, 2, 3}));
  EXPECT_EQ(dag.critical_path(std::vector<double>{1, 2, 2, 1}), (Nodes{0, 1, 3}))
      << "the first of equal ones";
  EXPECT_EQ(dag.critical_path(std::vector<double>{1, -5, 3}), (Nodes{0, 2}))
      << "a skipped join takes no time";
  EXPECT_EQ(Dag(Needs{}).critical_path({}), Nodes{});
}

TEST(Dag, IsDoneAtOnceWithoutNodes) { EXPECT_TRUE(Dag(Needs{}).done()); }

TEST(Dag, HandlesAChainOf100000OnASmallStack) {
  testing::run_on_small_stack([] {
    constexpr int kNodes = 100'000;
    std::vector<std::vector<NodeId>> needs(kNodes);
    for (int i = 1; i < kNodes; ++i) needs[static_cast<std::size_t>(i)] = {i - 1};
    Dag finishing(needs);
    Dag failing(std::move(needs));

    for (int i = 0; i < kNodes; ++i) {
      finishing.start(i);
      static_cast<void>(finishing.finish(i, true));
    }
    failing.start(0);

    EXPECT_EQ(failing.finish(0, false).skipped.size(), static_cast<std::size_t>(kNodes - 1));
    EXPECT_TRUE(finishing.done());
    EXPECT_TRUE(failing.done());
    EXPECT_EQ(finishing.critical_path(std::vector<double>(kNodes, 1.0)).size(),
              static_cast<std::size_t>(kNodes));
    EXPECT_EQ(failing.check_integrity(), "");
  });
}

}  // namespace
}  // namespace swarmkv::internal
