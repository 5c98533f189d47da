// Rows from raw samples: the middle one, the spread, the ratio, and nothing left out.
#include <gtest/gtest.h>

#include "measure/spread.h"
#include "support/sample_bench.h"

namespace swarmkv::testing {
namespace {

TEST(Spread, IsTheMiddleSampleTheLeastAndTheMost) {
  EXPECT_FALSE(internal::spread({}).has_value());
  const auto one = internal::spread({7});
  EXPECT_EQ(one->median, 7);
  EXPECT_EQ(one->n, 1);
  const auto odd = internal::spread({3, 9, 1});
  EXPECT_EQ(odd->median, 3);
  EXPECT_EQ(odd->min, 1);
  EXPECT_EQ(odd->max, 9);
  EXPECT_EQ(internal::spread({4, 1, 3, 2})->median, 2) << "a value that was measured";
}

TEST(BenchTrial, TellsTheTimesOfTheOriginalExperiment) {
  const BenchTrial recompute = sample_trial("recompute", 2, 0, 4000);
  EXPECT_EQ(recompute.document_ms(), (std::vector<double>{4000, 4000}));
  EXPECT_EQ(recompute.branch_ms(), (std::vector<double>{490, 490}));
  EXPECT_EQ(recompute.proxy_ms(), (std::vector<double>{4000, 4000})) << "its own prefill";
  for (const char* arm : {"shared", "snapshot"}) {
    const BenchTrial other = sample_trial(arm, 2, 0, 4000);
    EXPECT_EQ(other.document_ms(), (std::vector<double>{4000})) << arm;
    EXPECT_EQ(other.branch_ms(), (std::vector<double>{500, 500})) << arm;
    EXPECT_EQ(other.proxy_ms(), (std::vector<double>{100, 100})) << arm;
  }
  BenchTrial prefill_only = sample_trial("shared", 2, 0);
  for (BenchAgent& agent : prefill_only.agents) agent.first_token_ms.reset();
  EXPECT_EQ(prefill_only.proxy_ms().size(), 2U);
  EXPECT_TRUE(BenchTrial{}.document_ms().empty());
}

TEST(Summarise, MakesARowOfEveryArmOfEveryCaseInTheirOrder) {
  std::vector<BenchTrial> trials;
  for (const int n_agents : {1, 2}) {
    for (int i = 0; i < 2; ++i) {
      for (const char* arm : {"recompute", "shared"})
        trials.push_back(sample_trial(arm, n_agents, i));
    }
  }
  const std::vector<BenchRow> rows = summarise(trials);
  ASSERT_EQ(rows.size(), 4U);
  const std::vector<std::pair<int, std::string>> expected{
      {1, "recompute"}, {1, "shared"}, {2, "recompute"}, {2, "shared"}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rows[i].n_agents, expected[i].first);
    EXPECT_EQ(rows[i].arm, expected[i].second);
    EXPECT_EQ(rows[i].n_trials, 2);
  }
}

TEST(Summarise, ComparesWithTheFirstArmOfTheCase) {
  const std::vector<BenchRow> rows = summarise(sample_trials());
  EXPECT_EQ(*rows[0].speedup, 1);
  // Middle trials: 20 + 2 (4100 + 490) and 20 + 4100 + 500.
  EXPECT_NEAR(*rows[1].speedup, (20 + 2 * 4590.0) / (20 + 4600.0), 1e-9);
  EXPECT_EQ(rows[0].wall_ms->n, 3);
  EXPECT_EQ(rows[0].wall_ms->min, 20 + 2 * 4490);
  EXPECT_EQ(rows[0].wall_ms->max, 20 + 2 * 5090);
  EXPECT_EQ(rows[0].first_token_ms->n, 6) << "one a agent and trial";
  EXPECT_EQ(rows[0].document_ms->n, 6);
  EXPECT_EQ(rows[1].document_ms->n, 3);
  EXPECT_FALSE(rows[0].handoff_ms.has_value());
  EXPECT_EQ(rows[1].handoff_ms->median, 10);
  EXPECT_NEAR(rows[1].other_ms->median, 462, 1e-6);
  EXPECT_EQ(rows[0].prompt_tokens_computed, 7010);
  EXPECT_EQ(rows[1].prompt_tokens_computed, 3510);
}

TEST(Summarise, ShowsAFailingArmAndDoesNotCountItsTimes) {
  const std::vector<BenchRow> rows = summarise(sample_trials());
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[2].arm, "device");
  EXPECT_EQ(rows[2].n_failed, 3);
  EXPECT_FALSE(rows[2].wall_ms.has_value());
  EXPECT_FALSE(rows[2].speedup.has_value());
  EXPECT_NE(rows[2].error.find("0 | were read"), std::string::npos);
  EXPECT_EQ(rows[3].n_failed, 1);
  EXPECT_EQ(rows[3].wall_ms->n, 2);
}

TEST(Threshold, IsReadStrictly) {
  const BenchThreshold t = parse_threshold("shared/recompute=1.9");
  EXPECT_EQ(t.arm, "shared");
  EXPECT_EQ(t.over, "recompute");
  EXPECT_EQ(t.ratio, 1.9);
  for (const char* text :
       {"", "shared", "shared/recompute", "shared=2", "/recompute=2", "a/=2", "a/b=", "a/b=x",
        "a/b=2x", "a/b=-1", "a/b=0", "a/b=nan", "a/b=inf", "a=2/b"}) {
    EXPECT_THROW((void)parse_threshold(text), Error) << text;
  }
}

TEST(Threshold, IsMissedByOneCaseThatIsTooSlow) {
  const std::vector<BenchRow> rows = summarise(sample_trials());  // 1.99
  EXPECT_TRUE(misses(parse_threshold("shared/recompute=1.9"), rows).empty());
  const auto missed = misses(parse_threshold("shared/recompute=2"), rows);
  ASSERT_EQ(missed.size(), 1U);
  EXPECT_EQ(missed[0],
            "document 3500, 2 agents, output 16: shared is 1.99 x as fast as recompute, must be at "
            "least 2.00");
}

TEST(Threshold, IsMissedByAFailedArmAndByOneThatWasNotMeasured) {
  const std::vector<BenchRow> rows = summarise(sample_trials());
  for (const char* text : {"device/recompute=0.1", "snapshot/recompute=0.1", "shared/device=0.1"}) {
    const auto missed = misses(parse_threshold(text), rows);
    ASSERT_EQ(missed.size(), 1U) << text;
    EXPECT_NE(missed[0].find("has failed trials"), std::string::npos) << missed[0];
  }
  EXPECT_EQ(misses(parse_threshold("shared/nothing=1"), rows).size(), 1U);
  EXPECT_EQ(misses(parse_threshold("shared/recompute=1"), {}).size(), 1U);
}

}  // namespace
}  // namespace swarmkv::testing
