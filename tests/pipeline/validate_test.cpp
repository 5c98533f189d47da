#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "pipeline/graph.h"
#include "support/small_stack.h"
#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace {

AgentSpec agent(std::string name, std::vector<std::string> needs = {}) {
  AgentSpec spec;
  spec.name = std::move(name);
  spec.prompt = "p";
  for (const std::string& need : needs) spec.prompt += " {{ " + need + " }}";
  spec.needs = std::move(needs);
  return spec;
}

Pipeline pipeline_of(std::vector<AgentSpec> agents) {
  Pipeline pipeline;
  pipeline.agents = std::move(agents);
  return pipeline;
}

std::vector<std::string> errors_of(Pipeline pipeline) {
  std::vector<std::string> result;
  for (const Diagnostic& diagnostic : validate(pipeline)) {
    if (diagnostic.severity == Diagnostic::Severity::kError) {
      result.push_back(diagnostic.code + " " + diagnostic.message);
    }
  }
  return result;
}

using Errors = std::vector<std::string>;

TEST(Validate, ShowsACircleAsAPath) {
  EXPECT_EQ(errors_of(pipeline_of({agent("a", {"a"})})), Errors{"SK203 circle: a -> a"});
  EXPECT_EQ(errors_of(pipeline_of({agent("a", {"b"}), agent("b", {"a"})})),
            Errors{"SK203 circle: a -> b -> a"});
}

//   tail -> a -> b -> c -> a: the tail is not part of the circle
TEST(Validate, LeavesTheTailOutOfACircle) {
  EXPECT_EQ(errors_of(pipeline_of(
                {agent("tail", {"a"}), agent("a", {"b"}), agent("b", {"c"}), agent("c", {"a"})})),
            Errors{"SK203 circle: a -> b -> c -> a"});
}

TEST(Validate, ReportsSeparateCirclesSeparately) {
  EXPECT_EQ(errors_of(pipeline_of(
                {agent("a", {"b"}), agent("b", {"a"}), agent("c", {"d"}), agent("d", {"c"})})),
            (Errors{"SK203 circle: a -> b -> a", "SK203 circle: c -> d -> c"}));
}

TEST(Validate, ReportsASelfEdgeInsideOfALargerCircle) {
  EXPECT_EQ(errors_of(pipeline_of({agent("a", {"b"}), agent("b", {"a", "b"})})),
            (Errors{"SK203 circle: a -> b -> a", "SK203 circle: b -> b"}));
}

TEST(Validate, NamesEveryEdgeOfACircle) {
  Pipeline pipeline = pipeline_of({agent("a", {"b"}), agent("b", {"c"}), agent("c", {"a"})});

  const std::vector<Diagnostic> found = validate(pipeline);

  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[1].message, "'a' needs 'b' here");
  EXPECT_EQ(found[2].message, "'b' needs 'c' here");
  EXPECT_EQ(found[3].message, "'c' needs 'a' here");
}

TEST(Validate, ListsAllErrorsAtOnce) {
  AgentSpec hot = agent("hot");
  hot.sampling.temperature = std::numeric_limits<double>::quiet_NaN();
  hot.max_tokens = -1;
  AgentSpec silent = agent("silent");
  silent.prompt = " \n";

  const Errors errors =
      errors_of(pipeline_of({hot, silent, agent("Bad"), agent("twice"), agent("twice"),
                             agent("lost", {"hto"}), agent("agents")}));

  EXPECT_EQ(
      errors,
      (Errors{"SK201 agent name 'Bad' is not allowed",
              "SK205 agent 'twice' has the name of another agent",
              "SK201 agent name 'agents' is reserved",
              "SK105 'max_tokens' of agent 'hot' must be between 0 and 1,000,000, not -1",
              "SK105 'temperature' of agent 'hot' must be a finite number, 0 or more, not nan",
              "SK207 agent 'silent' has no prompt",
              "SK202 'lost' needs 'hto', which is not an agent"}));
}

TEST(Validate, AllowsFunctionsWithoutAPromptAndRefusesBoth) {
  AgentSpec count = agent("count", {"a"});
  count.prompt.clear();
  count.function = [](const Answers&) { return std::string("1"); };
  AgentSpec both = agent("both");
  both.function = count.function;

  EXPECT_EQ(errors_of(pipeline_of({agent("a"), count})), Errors{});
  EXPECT_EQ(errors_of(pipeline_of({both})),
            Errors{"SK207 agent 'both' has a function and a prompt"});
}

TEST(Validate, RefusesASecondDocumentAndOneWithoutContent) {
  Pipeline pipeline = pipeline_of({agent("a")});
  pipeline.documents.resize(2);
  pipeline.documents[0].name = "one";
  pipeline.documents[1].name = "two";
  pipeline.documents[1].text = "";

  EXPECT_EQ(errors_of(pipeline), (Errors{"SK103 document 'one' has neither a path nor a text",
                                         "SK102 several documents are not built yet"}));
}

TEST(Validate, TwiceChangesNothing) {
  Pipeline pipeline = pipeline_of({agent("a"), agent("b", {"a"})});
  pipeline.agents[1].needs.clear();

  EXPECT_TRUE(validate(pipeline).empty());
  EXPECT_TRUE(validate(pipeline).empty());

  EXPECT_EQ(pipeline.agents[1].needs, std::vector<std::string>{"a"});
}

TEST(Validate, HandlesAChainOf100000OnASmallStackInSeconds) {
  constexpr int kNodes = 100'000;
  Pipeline pipeline;
  pipeline.agents.push_back(agent("n0"));
  for (int i = 1; i < kNodes; ++i) {
    pipeline.agents.push_back(agent("n" + std::to_string(i), {"n" + std::to_string(i - 1)}));
  }

  const auto start = std::chrono::steady_clock::now();
  testing::run_on_small_stack([&] { EXPECT_TRUE(validate(pipeline).empty()); });

  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(Validate, ShortensTheMessageOfACircleOf100000) {
  constexpr int kNodes = 100'000;
  Pipeline pipeline;
  for (int i = 0; i < kNodes; ++i) {
    pipeline.agents.push_back(
        agent("n" + std::to_string(i), {"n" + std::to_string((i + 1) % kNodes)}));
  }

  testing::run_on_small_stack([&] {
    const std::vector<Diagnostic> found = validate(pipeline);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].code, "SK203");
    EXPECT_NE(found[0].message.find("(99988 more)"), std::string::npos) << found[0].message;
    EXPECT_LT(found.size(), 20u);
  });
}

// 300 layers of 300, each node needs three of the layer before.
TEST(Validate, HandlesAGridOf300By300InSeconds) {
  Pipeline pipeline;
  const auto name = [](int layer, int column) {
    return "l" + std::to_string(layer) + "_" + std::to_string(column);
  };
  for (int layer = 0; layer < 300; ++layer) {
    for (int column = 0; column < 300; ++column) {
      std::vector<std::string> needs;
      for (int k = 0; layer > 0 && k < 3; ++k) needs.push_back(name(layer - 1, (column + k) % 300));
      pipeline.agents.push_back(agent(name(layer, column), needs));
    }
  }

  const auto start = std::chrono::steady_clock::now();
  testing::run_on_small_stack([&] { EXPECT_TRUE(validate(pipeline).empty()); });

  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(Graph, FindsAShortestCircleThroughTheFirstNodeOfEachGroup) {
  using Lists = std::vector<std::vector<int>>;

  EXPECT_EQ(internal::find_circles({{}, {0}, {0, 1}}), Lists{});
  EXPECT_EQ(internal::find_circles({{1, 2}, {2}, {0}}), (Lists{{0, 2}}));
  EXPECT_EQ(internal::find_circles({{}, {2}, {3, 1}, {1}}), (Lists{{1, 2}}));
}

}  // namespace
}  // namespace swarmkv
