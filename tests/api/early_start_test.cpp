// Agents that start before their documents are read to the end.
#include <gtest/gtest.h>

#include "support/pipelines.h"
#include "support/sequential_runner.h"

namespace swarmkv::testing {
namespace {

AgentSpec early(std::string name, int n_tokens, int max_tokens = 6) {
  AgentSpec spec = agent(std::move(name), "What is it about?", max_tokens);
  spec.ready_after.kind = ReadyAfter::Kind::kTokens;
  spec.ready_after.value = n_tokens;
  spec.ignore_eos = true;
  return spec;
}

AgentSpec late(std::string name) {
  AgentSpec spec = agent(std::move(name), "How does it end?", 6);
  spec.ignore_eos = true;
  return spec;
}

std::string text_of(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += static_cast<char>('a' + i * i % 23);
  return text;
}

EngineOptions small_steps() {
  EngineOptions options;
  options.ctx_size = 4000;
  options.batch_size = 16;
  options.parallel = 8;  // a batch holds at least as many tokens as there are sequence ids, here 24
  return options;
}

TEST(EarlyStart, SeesItsPartAndComputesNothingTwice) {
  Engine engine(fake_model(), small_steps());
  const Pipeline pipeline = pipeline_of({early("soon", 40), late("all")}, text_of(800));

  const RunReport report = engine.run(pipeline).wait();

  const auto expected = run_plainly(pipeline, {});
  for (const AgentReport& a : report.agents) EXPECT_EQ(a.token_ids, expected.at(a.name).tokens);
  const AgentReport &soon = report.agents[0], &all = report.agents[1];
  EXPECT_LT(*soon.prefix_ready_ms, *all.prefix_ready_ms);
  EXPECT_EQ(report.documents[0].computed_tokens, report.documents[0].n_tokens) << "computed once";
  EXPECT_EQ(soon.ready_after, 40);
  EXPECT_EQ(all.ready_after, std::nullopt);
}

TEST(EarlyStart, EveryPointOfTheDocumentIsAPlaceToStart) {
  constexpr int kTokens = 100;
  std::vector<AgentSpec> agents{late("all")};
  for (const int n : {0, 1, 15, 16, 17, 50, 50, 99, 100, 101}) {
    agents.push_back(early("w" + std::to_string(agents.size()), n));
  }
  const Pipeline pipeline = pipeline_of(agents, text_of(kTokens));
  const auto expected = run_plainly(pipeline, {});
  for (const bool deterministic : {false, true}) {
    EngineOptions options = small_steps();
    options.deterministic = deterministic;
    Engine engine(fake_model(), options);

    const RunReport report = engine.run(pipeline).wait();

    for (const AgentReport& a : report.agents) {
      EXPECT_EQ(a.status, AgentStatus::kFinished) << a.error.value_or("");
      EXPECT_EQ(a.token_ids, expected.at(a.name).tokens) << a.name;
    }
    // One agent at a time: what an early one must not see leaves the cache before it runs.
    if (!deterministic) {
      EXPECT_EQ(report.documents[0].computed_tokens, report.documents[0].n_tokens);
    }
    ASSERT_EQ(report.warnings.size(), 1u) << "of the one that waits for more than there is";
    EXPECT_EQ(report.warnings[0].code, "SK606");
  }
}

TEST(EarlyStart, BeforeATextSeesNothingOfIt) {
  ModelOptions forced;
  forced.fake_answers = {{"SCHEDULE A", "it was there"}};
  Engine engine(fake_model(forced), small_steps());
  AgentSpec spec = late("head");
  spec.ready_after.kind = ReadyAfter::Kind::kBefore;
  spec.ready_after.text = "SCHEDULE A";
  const Pipeline pipeline =
      pipeline_of({spec, agent("all", "Read?", 20)}, text_of(120) + "SCHEDULE A" + text_of(60));

  const RunReport report = engine.run(pipeline).wait();

  EXPECT_EQ(report.agents[0].ready_after, 120);
  EXPECT_NE(report.agents[0].text, "it was there");
  EXPECT_EQ(report.agents[1].text, "it was there");
}

// The title of a contract, say.
TEST(EarlyStart, BeforeATextThatStandsFirstIsWarnedOf) {
  AgentSpec spec = late("head");
  spec.ready_after.kind = ReadyAfter::Kind::kBefore;
  spec.ready_after.text = "LEASE";
  Engine engine(fake_model(), small_steps());

  const RunReport report = engine.run(pipeline_of({spec}, "LEASE" + text_of(50))).wait();

  ASSERT_FALSE(report.warnings.empty());
  EXPECT_EQ(report.warnings[0].code, "SK606");
  EXPECT_EQ(report.warnings[0].message, "'head' reads nothing: its documents begin with 'LEASE'");
}

TEST(EarlyStart, BeforeATextThatIsNowhereIsRefused) {
  AgentSpec spec = late("head");
  spec.ready_after.kind = ReadyAfter::Kind::kBefore;
  spec.ready_after.text = "SCHEDULE B";
  try {
    (void)make_plan(fake_model(), pipeline_of({spec}, text_of(50)), {});
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(e.what()).find("'SCHEDULE B'"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace swarmkv::testing
