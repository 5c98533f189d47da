// Pipelines far larger than anybody writes: checked in time, on a small stack, and with a circle in
// the place where it is found last.
#include <gtest/gtest.h>
#include <time.h>

#include <string>
#include <vector>

#include "pipeline/plain_agents.h"
#include "support/sanitizers.h"
#include "support/small_stack.h"
#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace {

constexpr int kChain = 100'000, kSide = 300;
/// For one check; what it takes is 0.5 s or less. Sanitizers and their checks cost a multiple.
constexpr double kMostSeconds = internal::kKeepsFreedMemory ? 60 : 5;

/// Of this thread's own work: others on the machine do not count.
double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// What is found on a stack of 1 MB; in time, or the test fails.
std::vector<Diagnostic> found_in_time(Pipeline& pipeline) {
  std::vector<Diagnostic> found;
  testing::run_on_small_stack([&] {
    const double start = cpu_seconds();
    found = validate(pipeline);
    EXPECT_LT(cpu_seconds() - start, kMostSeconds);
  });
  return found;
}

void expect_circle(Pipeline& pipeline, const std::string& message) {
  const std::vector<Diagnostic> found = found_in_time(pipeline);
  std::vector<std::string> errors;
  for (const Diagnostic& diagnostic : found) {
    if (diagnostic.severity != Diagnostic::Severity::kError) continue;
    EXPECT_EQ(diagnostic.code, "SK203");
    errors.push_back(diagnostic.message);
  }
  EXPECT_EQ(errors, std::vector<std::string>{message});
  EXPECT_LT(found.size(), 20U);
}

//  n0 <- n1 <- n2 <- ... <- n99999
Pipeline chain() {
  Pipeline pipeline;
  pipeline.agents.push_back(agent("n0"));
  for (int i = 1; i < kChain; ++i) {
    pipeline.agents.push_back(agent("n" + std::to_string(i), {"n" + std::to_string(i - 1)}));
  }
  return pipeline;
}

std::string place(int layer, int column) {
  return "l" + std::to_string(layer) + "_" + std::to_string(column % kSide);
}

/// 300 layers of 300; each node needs its own and the next columns of the layer before.
Pipeline grid(int n_needs) {
  Pipeline pipeline;
  for (int layer = 0; layer < kSide; ++layer) {
    for (int column = 0; column < kSide; ++column) {
      std::vector<std::string> needs;
      for (int k = 0; layer > 0 && k < n_needs; ++k) needs.push_back(place(layer - 1, column + k));
      pipeline.agents.push_back(agent(place(layer, column), needs));
    }
  }
  return pipeline;
}

void also_needs(AgentSpec& spec, const std::string& need) {
  spec.needs.push_back(need);
  spec.prompt += " {{ " + need + " }}";
}

TEST(LargePipelines, AChainOf100000) {
  Pipeline pipeline = chain();
  EXPECT_TRUE(found_in_time(pipeline).empty());
}

TEST(LargePipelines, AChainOf100000ThatIsACircle) {
  Pipeline pipeline;
  for (int i = 0; i < kChain; ++i) {
    pipeline.agents.push_back(
        agent("n" + std::to_string(i), {"n" + std::to_string((i + 1) % kChain)}));
  }

  const std::vector<Diagnostic> found = found_in_time(pipeline);

  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].code, "SK203");
  EXPECT_NE(found[0].message.find("(99988 more)"), std::string::npos) << found[0].message;
  EXPECT_LT(found.size(), 20u);
}

TEST(LargePipelines, AChainOf100000WhoseLastNodeClosesACircleWithTheFirst) {
  Pipeline pipeline = chain();
  also_needs(pipeline.agents.front(), pipeline.agents.back().name);
  expect_circle(
      pipeline,
      "circle: n0 -> n99999 -> n99998 -> n99997 -> n99996 -> n99995 -> (99988 more) -> n6 "
      "-> n5 -> n4 -> n3 -> n2 -> n1 -> n0");
}

TEST(LargePipelines, AChainOf100000WhoseLastTwoAreACircle) {
  Pipeline pipeline = chain();
  also_needs(pipeline.agents[kChain - 2], pipeline.agents.back().name);
  expect_circle(pipeline, "circle: n99998 -> n99999 -> n99998");
}

TEST(LargePipelines, AGridOf300By300WithTwoNeedsEach) {
  Pipeline pipeline = grid(2);
  EXPECT_TRUE(found_in_time(pipeline).empty());
}

TEST(LargePipelines, AGridOf300By300WithThreeNeedsEach) {
  Pipeline pipeline = grid(3);
  EXPECT_TRUE(found_in_time(pipeline).empty());
}

TEST(LargePipelines, AGridOf300By300WhoseFirstLayerNeedsTheLast) {
  Pipeline pipeline = grid(2);
  also_needs(pipeline.agents.front(), pipeline.agents.back().name);
  expect_circle(pipeline,
                "circle: l0_0 -> l299_299 -> l298_299 -> l297_299 -> l296_299 -> l295_299 -> (288 "
                "more) -> l6_299 -> l5_299 -> l4_299 -> l3_299 -> l2_299 -> l1_299 -> l0_0");
}

TEST(LargePipelines, AGridOf300By300WithACircleInItsLastLayer) {
  Pipeline pipeline = grid(2);
  AgentSpec &last = pipeline.agents.back(), &before = pipeline.agents[pipeline.agents.size() - 2];
  also_needs(before, last.name);
  also_needs(last, before.name);
  expect_circle(pipeline, "circle: l299_298 -> l299_299 -> l299_298");
}

// As the chain above, with every kind of need and every agent reading by name.
TEST(LargePipelines, AChainOf100000OfEveryKindOfNeed) {
  Pipeline pipeline;
  pipeline.documents = {{"deed", "d", {}, {}, {}}};
  pipeline.vars = {{"who", "x"}};
  for (int i = 0; i < kChain; ++i) {
    AgentSpec spec = agent("n" + std::to_string(i));
    const std::string before = "n" + std::to_string(i - 1);
    spec.prompt = "{{ vars.who }}";
    spec.sampling.json_schema = R"({"type": "object"})";
    spec.output_file = "out/" + spec.name;
    if (i > 0 && i % 3 == 0) spec.continues = before;
    if (i > 0 && i % 3 == 1) {
      spec.optional_needs = {before};
      spec.prompt = "{{ " + before + ".json.a | default('') | trim }}";
    }
    if (i > 0 && i % 3 == 2) spec.prompt = "{{ " + before + " }}";
    if (spec.continues.empty()) spec.reads = {"deed"};
    pipeline.agents.push_back(std::move(spec));
  }

  EXPECT_TRUE(found_in_time(pipeline).empty());
}

// One agent that may run without any of many others, and says so for each.
TEST(LargePipelines, ManyOptionalNeedsOfOneAgent) {
  constexpr int kNodes = 20'000;
  Pipeline pipeline;
  AgentSpec join = agent("join");
  join.prompt.clear();
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    pipeline.agents.push_back(agent(name));
    join.optional_needs.push_back(name);
    join.prompt += "{{ " + name + " | default('none') }}";
  }
  pipeline.agents.push_back(std::move(join));

  EXPECT_TRUE(found_in_time(pipeline).empty());
}

}  // namespace
}  // namespace swarmkv
