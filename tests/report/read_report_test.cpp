#include <gtest/gtest.h>

#include <random>

#include "report/nine_agents.h"
#include "report/sample_report.h"
#include "swarmkv/error.h"
#include "swarmkv/report.h"

namespace swarmkv {
namespace {

// Every field that the JSON has, with a value other than its default.
RunReport full_report() {
  RunReport r = testing::sample_report();
  r.status = "failed";
  r.handoff = "recompute";
  r.attention = "grouped";
  r.attention_note = "batches of one row";
  r.peak_rss_bytes = 1'234'567'890'123;
  r.peak_threads = 7;
  r.tpot_ms = {14, 15, 16, 17, 20};
  r.e2e_ms = {1.5, {}, {}, 2.5, 2};
  r.counters.forward_s = 0.001234;
  DocumentReport& d = r.documents[0];
  d.source = "restored";
  d.restored_tokens = 12;
  d.snapshot = SnapshotReport{"saved", "/kept/a.swkv", 81'000'000, 3693, 20.5, "note", {}};
  d.snapshot->files = {{"saved", "/kept/a.swkv", 81'000'000, 3693, 20.5, "note", {"contract"}},
                       {"rejected", "/kept/b.swkv", 5, 3, 0, "other", {"contract", "annex"}}};
  d.readings.push_back({"rules", "risk", 41237, "cached", 3, 4, 8000, 5154.625, 9000, d.snapshot});
  AgentReport& a = r.agents[1];
  a.continues = "teaser";
  a.ready_after = 4000;
  a.reasoning = "hmm";
  a.json = R"({"b": [1, {"a": null}], "a": 2.5})";
  a.output_file = "out/memo.md";
  a.n_preemptions = 2;
  a.fork_fell_back = true;
  a.needs = {"teaser", "memo"};
  return r;
}

TEST(ReadReport, GivesBackWhatWasWritten) {
  for (const RunReport& report :
       {full_report(), testing::sample_report(), testing::restored_report(),
        testing::two_places_report(), RunReport()}) {
    const RunReport read = parse_report(to_json(report));

    EXPECT_EQ(to_json(read), to_json(report));
    EXPECT_EQ(to_table(read, true), to_table(report, true));
  }
  // Its names are not UTF-8, which the JSON has to be.
  const RunReport hostile = testing::nine_agents_report();
  EXPECT_EQ(to_json(parse_report(to_json(hostile))), to_json(hostile));
}

TEST(ReadReport, ReadsReportsOfOlderVersions) {
  std::string json = to_json(testing::sample_report());
  const std::size_t added = json.find(",\n    \"critical_path_ms\"");
  ASSERT_NE(added, std::string::npos);
  json.erase(added, json.find("\"decode_rows\": 814", added) + 18 - added);
  const std::string table = to_table(testing::sample_report(), false);
  const std::string read = to_table(parse_report(json), false);

  EXPECT_NE(table.find("mean batch 1.6"), std::string::npos);
  EXPECT_NE(read.find("mean batch 1.6"), std::string::npos) << read;
  EXPECT_NE(read.find("critical path   document > risk > memo\n"), std::string::npos) << read;
}

std::string refusal(const std::string& json) {
  try {
    parse_report(json);
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + " " + error.what();
  }
  return "read";
}

TEST(ReadReport, RefusesWhatIsNoReport) {
  EXPECT_EQ(refusal(""), "corrupt [report.read] this is not JSON, or cut short");
  EXPECT_EQ(refusal("GGUF"), refusal(""));
  EXPECT_EQ(refusal(std::string(100'000, '[')), refusal(""));
  EXPECT_EQ(refusal(std::string(1000, '[') + std::string(1000, ']')), refusal(""));
  EXPECT_EQ(refusal("[]"), "unsupported [report.read] this is JSON without a schema, not a report");
  EXPECT_EQ(refusal(R"({"schema": 1})"), refusal("[]"));
  EXPECT_EQ(refusal(R"({"schema": "swarmkv.plan/1"})"),
            "unsupported [report.read] the schema is 'swarmkv.plan/1', but a report's is "
            "'swarmkv.report/1'");
  const std::string report = R"({"schema": "swarmkv.report/1"})";
  EXPECT_EQ(refusal(report), "read");
  EXPECT_EQ(refusal(report + '\0' + "and more"), refusal(""));
}

TEST(ReadReport, TakesValuesOfAnotherTypeForUnknown) {
  const RunReport read =
      parse_report(R"({"schema": "swarmkv.report/1", "name": 7, "exit_code": 1e300,
    "command": {"a": "b"}, "ctx_size": 99999999999, "documents": "x", "model": [1],
    "agents": [1, null, {"name": "a", "truncated": "yes", "json": {"x": 1}, "needs": [1, "b"],
      "usage": {"prompt_tokens": -99999999999, "cached_tokens": 18446744073709551615},
      "sampling": {"seed": -1, "temperature": "hot"}}],
    "summary": {"prompt_tokens": 18446744073709551615, "decode_steps": -5, "mean_decode_batch": 1e300,
      "critical_path": [1, "a"], "critical_path_ms": ["x"], "peak": 3}, "warnings": [[], "w"]})");

  EXPECT_EQ(read.name, "");
  EXPECT_EQ(read.exit_code, 0);
  EXPECT_EQ(read.ctx_size, 0);
  EXPECT_EQ(read.prompt_tokens, 0);
  ASSERT_EQ(read.agents.size(), 3U);
  EXPECT_FALSE(read.agents[2].prompt_tokens || read.agents[2].cached_tokens);
  EXPECT_EQ(read.agents[2].needs, std::vector<std::string>{"b"});
  EXPECT_FALSE(to_table(read, false).empty());
}

// Any byte of a report may be damaged: it is read, or refused, and nothing else.
TEST(ReadReport, SurvivesDamage) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string good = to_json(full_report());
  for (int round = 0; round < 300; ++round) {
    std::string bad = good;
    for (int i = 0; i < 3; ++i) bad[random() % bad.size()] = static_cast<char>(random());
    if (round % 3 == 0) bad.resize(random() % bad.size());
    try {
      const RunReport read = parse_report(bad);
      EXPECT_FALSE(to_table(read, false).empty());
      EXPECT_FALSE(to_json(read).empty());
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kUnsupported);
    }
  }
}

}  // namespace
}  // namespace swarmkv
