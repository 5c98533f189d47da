// What a benchmark prints: shapes against golden texts, and that raw samples survive their file.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/golden.h"
#include "support/sample_bench.h"

namespace swarmkv::testing {
namespace {

using Json = nlohmann::json;

std::string error_of(ErrorCode code, const std::string& text, const BenchSetup& setup) {
  try {
    (void)parse_bench_lines(text, setup);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown for: " << text;
  return "";
}

TEST(BenchReport, LooksLikeTheGoldenTables) {
  const std::vector<BenchTrial> trials = sample_trials();
  const std::vector<BenchRow> rows = summarise(trials);
  expect_golden("bench/table.md", to_markdown(rows, sample_setup()));
  expect_golden("bench/table.csv", to_csv(rows));
  expect_golden("bench/compat.txt", to_compat(trials, sample_setup(), "two cores"));
  expect_golden("bench/sample.jsonl", to_json_line(trials[1], sample_setup()));
}

TEST(BenchReport, ForcedInstructionsAreAnotherCampaign) {
  BenchSetup forced = sample_setup();
  forced.attention_target = "AVX2";
  const std::string line = to_json_line(sample_trial("shared", 2, 0), sample_setup());
  std::string before = line;  // of a version that could not force them
  const std::string key = R"("attention_target":null,)";
  before.erase(before.find(key), key.size());
  EXPECT_EQ(parse_bench_lines(before, sample_setup()).size(), 1U);
  EXPECT_NE(error_of(ErrorCode::kMismatch, line, forced).find("attention_target is null there"),
            std::string::npos);
}

TEST(BenchReport, MarkdownRowsHaveAsManyCellsAsTheHeader) {
  const std::string table = to_markdown(summarise(sample_trials()), sample_setup());
  std::istringstream lines(table);
  std::size_t expected = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] != '|') continue;
    std::size_t n = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      n += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    }
    if (expected == 0) expected = n;
    EXPECT_EQ(n, expected) << line;
  }
  EXPECT_EQ(expected, 17U);
}

TEST(BenchReport, CompatHasTheOriginalsKeysInItsOrder) {
  const std::vector<std::string> keys{"Context_Label",
                                      "Document_Tokens",
                                      "Target_Prefill_Tokens",
                                      "Base_Doc_Path",
                                      "BranchA_Tokens",
                                      "BranchB_Tokens",
                                      "SwarmKV_AgentA_Required_Prefix_Tokens",
                                      "SwarmKV_AgentB_Required_Prefix_Tokens",
                                      "Baseline_Agent1_Prefill_Ms",
                                      "Baseline_Agent1_Branch_Ms",
                                      "Baseline_Agent1_Total_Ms",
                                      "Baseline_Agent2_Prefill_Ms",
                                      "Baseline_Agent2_Branch_Ms",
                                      "Baseline_Agent2_Total_Ms",
                                      "Baseline_End_To_End_Ms",
                                      "Baseline_Branch2_TTFT_Proxy_Ms",
                                      "SwarmKV_Prefill_Ms",
                                      "SwarmKV_AgentA_Ms",
                                      "SwarmKV_AgentB_Ms",
                                      "SwarmKV_Branch_Avg_Ms",
                                      "SwarmKV_Branch1_TTFT_Proxy_Ms",
                                      "SwarmKV_Branch2_TTFT_Proxy_Ms",
                                      "SwarmKV_End_To_End_Ms",
                                      "End_To_End_Improvement_Pct",
                                      "Branch1_TTFT_Improvement_Pct",
                                      "Branch2_TTFT_Improvement_Pct",
                                      "Redundant_Prefill_Eliminated_Ms"};
  std::vector<std::string> got;
  std::istringstream lines(to_compat(sample_trials(), sample_setup(), ""));
  for (std::string line; std::getline(lines, line);) got.push_back(line.substr(0, line.find(": ")));
  EXPECT_EQ(got, keys);
}

TEST(BenchReport, CompatTakesTheMiddleTrialAndCountsThePrefillThatIsStillNeeded) {
  const std::string text = to_compat(sample_trials(), sample_setup(), "x\ny: 1");
  EXPECT_NE(text.find("Context_Label: x y: 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Baseline_Agent1_Prefill_Ms: 4100.000\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Redundant_Prefill_Eliminated_Ms: 4100.000\n"), std::string::npos) << text;
  EXPECT_NE(text.find("SwarmKV_Branch2_TTFT_Proxy_Ms: 100.000\n"), std::string::npos) << text;
}

TEST(BenchReport, CompatComparesOnlyTheSameWork) {
  BenchTrial longer = sample_trial("recompute", 2, 1);
  longer.n_output *= 10;
  std::vector<BenchTrial> trials = sample_trials();
  const std::string same = to_compat(trials, sample_setup(), "");
  BenchTrial other = sample_trial("shared", 2, 1);
  other.n_output = 1;
  other.wall_ms = 1;
  trials.push_back(other);
  EXPECT_EQ(to_compat(trials, sample_setup(), ""), same);
  trials.push_back(longer);
  EXPECT_THROW((void)to_compat(trials, sample_setup(), ""), Error) << "nothing to compare it with";
}

TEST(BenchReport, CompatNeedsBothArmsWithTwoAgents) {
  EXPECT_THROW((void)to_compat({}, sample_setup(), ""), Error);
  EXPECT_THROW((void)to_compat({sample_trial("recompute", 2, 0)}, sample_setup(), ""), Error);
  EXPECT_THROW((void)to_compat({sample_trial("recompute", 1, 0), sample_trial("shared", 1, 0)},
                               sample_setup(), ""),
               Error);
  EXPECT_THROW((void)to_compat({sample_trial("recompute", 2, 0), failed_trial("shared", 2, 0)},
                               sample_setup(), ""),
               Error);
}

TEST(BenchReport, SamplesSurviveTheirFile) {
  std::string file;
  const std::vector<BenchTrial> trials = sample_trials();
  for (const BenchTrial& t : trials) file += to_json_line(t, sample_setup());
  const std::vector<BenchTrial> again = parse_bench_lines(file, sample_setup());
  ASSERT_EQ(again.size(), trials.size());
  std::string file_again;
  for (const BenchTrial& t : again) file_again += to_json_line(t, sample_setup());
  EXPECT_EQ(file_again, file);
}

TEST(BenchReport, ALastLineThatWasCutOffIsLeftOut) {
  const std::string line = to_json_line(sample_trial("shared", 2, 0), sample_setup());
  EXPECT_EQ(parse_bench_lines(line + line.substr(0, line.size() / 2), sample_setup()).size(), 1U);
  EXPECT_EQ(parse_bench_lines(line.substr(0, line.size() - 1), sample_setup()).size(), 0U);
  EXPECT_TRUE(parse_bench_lines("", sample_setup()).empty());
}

TEST(BenchReport, WhatIsNoSampleIsRefusedWithItsLine) {
  const std::string line = to_json_line(sample_trial("shared", 2, 0), sample_setup());
  EXPECT_NE(error_of(ErrorCode::kCorrupt, line + "{]\n", sample_setup()).find("line 2"),
            std::string::npos);
  error_of(ErrorCode::kCorrupt, "[]\n", sample_setup());
  error_of(ErrorCode::kCorrupt, "{\"schema\":\"other/1\"}\n", sample_setup());
  error_of(ErrorCode::kCorrupt, "{\"schema\":\"swarmkv.bench/1\"}\n", sample_setup());
  Json json = Json::parse(line);
  json["wall_ms"] = "fast";
  error_of(ErrorCode::kCorrupt, json.dump() + "\n", sample_setup());
}

TEST(BenchReport, SamplesOfAnotherCampaignAreRefusedWithTheDifference) {
  const std::string line = to_json_line(sample_trial("shared", 2, 0), sample_setup());
  BenchSetup other = sample_setup();
  other.seed = 7;
  const std::string error = error_of(ErrorCode::kMismatch, line, other);
  EXPECT_NE(error.find("seed is 42 there and 7 here"), std::string::npos) << error;
  BenchSetup moved = sample_setup();
  moved.model_path = "/elsewhere/m.gguf";
  EXPECT_EQ(parse_bench_lines(line, moved).size(), 1U) << "the same bytes at another place";
}

TEST(BenchReport, JsonHoldsRowsAndAllSamples) {
  const std::vector<BenchTrial> trials = sample_trials();
  const Json json = Json::parse(to_json(summarise(trials), trials, sample_setup()));
  EXPECT_EQ(json["schema"], "swarmkv.bench/1");
  EXPECT_EQ(json["trials"].size(), trials.size());
  EXPECT_EQ(json["rows"].size(), 4U);
  EXPECT_TRUE(json["rows"][2]["wall_ms"].is_null()) << "a failed arm has no time, not 0";
  EXPECT_EQ(json["rows"][1]["wall_ms"]["n"], 3);
}

}  // namespace
}  // namespace swarmkv::testing
