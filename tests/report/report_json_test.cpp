#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "report/sample_report.h"
#include "support/golden.h"
#include "swarmkv/report.h"

namespace swarmkv {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> out;
  for (const auto& item : object.items()) out.push_back(item.key());
  return out;
}

using Keys = std::vector<std::string>;

TEST(ReportJson, HasTheDocumentedKeysInTheDocumentedOrder) {
  const Json json = Json::parse(to_json(testing::sample_report()));

  EXPECT_EQ(json["schema"], "swarmkv.report/1");
  EXPECT_EQ(keys(json),
            (Keys{"schema",         "run_id",       "name",         "status",  "exit_code",
                  "started_at",     "versions",     "command",      "model",   "device",
                  "ctx_size",       "cache_type_k", "cache_type_v", "handoff", "attention",
                  "attention_note", "documents",    "agents",       "summary", "warnings"}));
  EXPECT_EQ(keys(json["documents"][0]),
            (Keys{"name", "digest", "n_tokens", "source", "computed_tokens", "prefill_ms",
                  "prefill_tokens_per_s", "snapshot", "ready_ms", "restored_tokens", "readings"}));
  RunReport report;
  report.documents.emplace_back().readings.emplace_back();
  EXPECT_EQ(keys(Json::parse(to_json(report))["documents"][0]["readings"][0]),
            (Keys{"after", "reader", "n_tokens", "source", "computed_tokens", "restored_tokens",
                  "prefill_ms", "prefill_tokens_per_s", "ready_ms", "snapshot"}));
  EXPECT_EQ(
      keys(json["agents"][0]),
      (Keys{
          "name",        "kind",     "status",           "finish_reason", "truncated",   "error",
          "skip_reason", "needs",    "continues",        "reads",         "ready_after", "text",
          "reasoning",   "json",     "output_file",      "preemptions",   "usage",       "metrics",
          "timeline",    "sampling", "token_ids_digest", "fork_fell_back"}));
  EXPECT_EQ(keys(json["summary"]), (Keys{"duration_ms",
                                         "counts",
                                         "prompt_tokens",
                                         "prompt_tokens_computed",
                                         "prompt_tokens_reused",
                                         "reuse_ratio",
                                         "completion_tokens",
                                         "output_throughput_tok_s",
                                         "ttft_ms",
                                         "tpot_ms",
                                         "itl_ms",
                                         "e2e_ms",
                                         "jitter",
                                         "fairness",
                                         "forward_steps",
                                         "mean_decode_batch",
                                         "critical_path",
                                         "peak",
                                         "engine_time_s",
                                         "graphs_reused",
                                         "critical_path_ms",
                                         "decode_steps",
                                         "decode_rows"}));
}

TEST(ReportJson, LooksLikeTheGoldenReport) {
  Json json = Json::parse(to_json(testing::sample_report()));
  json["versions"] = nullptr;  // changes with every release

  testing::expect_golden("report/sample.json", json.dump(2) + "\n");
}

TEST(ReportJson, WritesUnknownAsNullAndNeverAsZero) {
  const Json json = Json::parse(to_json(RunReport{}));

  for (const char* key : {"run_id", "started_at", "device", "ctx_size", "cache_type_k"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  for (const char* key : {"path", "fingerprint", "n_params", "quant"}) {
    EXPECT_TRUE(json["model"][key].is_null()) << key;
  }
  for (const char* key :
       {"reuse_ratio", "output_throughput_tok_s", "jitter", "fairness", "mean_decode_batch"}) {
    EXPECT_TRUE(json["summary"][key].is_null()) << key;
  }
  EXPECT_TRUE(json["summary"]["peak"]["rss_bytes"].is_null());
  EXPECT_TRUE(json["summary"]["ttft_ms"]["p50"].is_null());
}

TEST(ReportJson, WritesNullForAnAgentThatNeverRan) {
  RunReport report;
  report.agents.resize(1);

  const Json agent = Json::parse(to_json(report))["agents"][0];

  EXPECT_TRUE(agent["finish_reason"].is_null());
  for (const char* group : {"usage", "metrics", "timeline"}) {
    for (const auto& item : agent[group].items()) {
      if (item.key() == "itl_ms") continue;
      EXPECT_TRUE(item.value().is_null()) << group << "." << item.key();
    }
  }
}

TEST(ReportJson, SurvivesBytesThatAreNotText) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto noise = [&random] {
    std::string bytes(random() % 200, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    return bytes;
  };
  for (int round = 0; round < 50; ++round) {
    RunReport report = testing::sample_report();
    report.name = report.model_path = report.device = report.run_id = noise();
    report.command = {noise(), noise()};
    report.critical_path = {noise()};
    report.documents[0].name = noise();
    report.warnings[0].message = report.warnings[0].hint = noise();
    report.agents[0].text = noise();
    report.agents[0].error = noise();
    report.agents[0].needs = {noise()};

    Json parsed;
    ASSERT_NO_THROW(parsed = Json::parse(to_json(report)));
    EXPECT_EQ(parsed["agents"].size(), report.agents.size());
  }
}

TEST(ReportJson, WritesNullForInfinityAndNan) {
  RunReport report = testing::sample_report();
  report.duration_ms = std::numeric_limits<double>::infinity();
  report.agents[0].ttft_ms = std::numeric_limits<double>::quiet_NaN();

  const Json json = Json::parse(to_json(report));

  EXPECT_TRUE(json["summary"]["duration_ms"].is_null());
  EXPECT_TRUE(json["agents"][0]["metrics"]["ttft_ms"].is_null());
}

TEST(ReportJson, WritesWhatAConversationAndAnAnswerAreMadeOf) {
  RunReport report;
  report.agents.resize(1);
  AgentReport& agent = report.agents[0];
  agent.continues = "memo";
  agent.ready_after = 4000;
  agent.reasoning = "first this";
  agent.json = R"({"z":[1,2.5,null],"a":"\u00fc"})";
  agent.output_file = "out/memo.md";

  const Json json = Json::parse(to_json(report))["agents"][0];

  EXPECT_EQ(json["continues"], "memo");
  EXPECT_EQ(json["ready_after"], 4000);
  EXPECT_EQ(json["reasoning"], "first this");
  EXPECT_EQ(json["json"].dump(), "{\"z\":[1,2.5,null],\"a\":\"\u00fc\"}") << "order is kept";
  EXPECT_EQ(json["output_file"], "out/memo.md");
}

TEST(ReportJson, WritesNullForAnAnswerThatIsNoJsonOrTooDeepToWrite) {
  RunReport report;
  report.agents.resize(3);
  report.agents[0].json = "{\"a\":";
  report.agents[1].json = std::string(200'000, '[') + std::string(200'000, ']');
  report.agents[2].json = "[\"" + std::string(5000, '[') + "\"]";

  const Json agents = Json::parse(to_json(report))["agents"];

  EXPECT_TRUE(agents[0]["json"].is_null());
  EXPECT_TRUE(agents[1]["json"].is_null());
  EXPECT_TRUE(agents[2]["json"].is_array()) << "brackets in a text do not count";
}

TEST(ReportJson, KeepsTextVerbatim) {
  RunReport report = testing::sample_report();
  report.agents[0].text = "line\n\ttab \x1b[31m \"quoted\" \xf0\x9f\x90\x9d";

  EXPECT_EQ(Json::parse(to_json(report))["agents"][0]["text"], report.agents[0].text);
}

}  // namespace
}  // namespace swarmkv
