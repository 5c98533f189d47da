#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "swarmkv/event.h"

namespace swarmkv {
namespace {

TEST(EventJson, IsOneLineWithOnlyWhatApplies) {
  Event event;
  event.type = EventType::kDocumentProgress;
  event.seq = 4;
  event.t_ms = 12.3456;
  event.name = "contract";
  event.n_tokens = 512;
  event.n_total = 4096;

  EXPECT_EQ(to_json_line(event),
            "{\"v\":1,\"seq\":4,\"t_ms\":12.346,\"type\":\"document.progress\","
            "\"document\":\"contract\",\"n_tokens\":512,\"n_total\":4096}\n");
}

TEST(EventJson, NamesFieldsByTheirMeaning) {
  Event finished;
  finished.type = EventType::kAgentFinished;
  finished.name = "risk";
  finished.code = "stop";
  Event skipped;
  skipped.type = EventType::kAgentSkipped;
  skipped.text = "'risk' failed";

  EXPECT_NE(to_json_line(finished).find("\"agent\":\"risk\",\"finish_reason\":\"stop\""),
            std::string::npos);
  EXPECT_NE(to_json_line(skipped).find("\"reason\":\"'risk' failed\""), std::string::npos);
}

TEST(EventJson, SaysWhereASnapshotIsAndHowLargeItIs) {
  Event restored;
  restored.type = EventType::kSnapshotRestored;
  restored.name = "contract";
  restored.text = "/cache/5f0c.swkv";
  restored.n_tokens = restored.n_total = 3684;
  restored.size_bytes = 80'740'352;
  restored.ms = 212.5;
  Event rejected;
  rejected.type = EventType::kSnapshotRejected;
  rejected.name = "contract";
  rejected.text = "cache_type_k q8_0, here f16";

  EXPECT_EQ(to_json_line(restored),
            "{\"v\":1,\"seq\":0,\"t_ms\":0.0,\"type\":\"snapshot.restored\","
            "\"document\":\"contract\",\"path\":\"/cache/5f0c.swkv\",\"n_tokens\":3684,"
            "\"n_total\":3684,\"size_bytes\":80740352,\"ms\":212.5}\n");
  EXPECT_NE(to_json_line(rejected).find("\"document\":\"contract\",\"reason\":\"cache_type_k"),
            std::string::npos);
}

TEST(EventJson, TheEndsOfAnAgentAndOfARunCarryTheirResults) {
  Event agent;
  agent.type = EventType::kAgentFinished;
  agent.name = "risk";
  Event run;
  run.type = EventType::kRunFinished;
  run.code = "interrupted";
  run.exit_code = 130;

  EXPECT_NE(to_json_line(agent).find("\"agent\":\"risk\",\"text\":\"\""), std::string::npos)
      << "an empty answer is an answer";
  EXPECT_NE(to_json_line(run).find("\"status\":\"interrupted\",\"exit_code\":130"),
            std::string::npos);
}

TEST(EventJson, KeepsNewlinesOfTheTextInsideTheLine) {
  Event delta;
  delta.type = EventType::kAgentDelta;
  delta.text = "a\nb\xff";

  const std::string line = to_json_line(delta);

  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(nlohmann::json::parse(line)["text"], "a\nb\xef\xbf\xbd");
}

TEST(EventJson, KeepsReasoningApartAndEveryDeltaHasAText) {
  Event delta;
  delta.type = EventType::kAgentDelta;
  delta.name = "risk";
  delta.n_tokens = 3;
  const std::string nothing_yet = to_json_line(delta);
  delta.reasoning = "A or \xff";
  const auto thinks = nlohmann::json::parse(to_json_line(delta));
  delta.text = "B";

  EXPECT_NE(nothing_yet.find("\"agent\":\"risk\",\"text\":\"\",\"n_tokens\":3"), std::string::npos);
  EXPECT_EQ(thinks["reasoning"], "A or \xef\xbf\xbd");
  EXPECT_EQ(thinks["text"], "");
  EXPECT_EQ(nlohmann::json::parse(to_json_line(delta))["text"], "B");
}

TEST(EventJson, GivesEveryTypeItsOwnName) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(EventType::kRunFinished); ++i) {
    names.insert(to_string(static_cast<EventType>(i)));
  }

  EXPECT_EQ(names.size(), static_cast<std::size_t>(EventType::kRunFinished) + 1);
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace swarmkv
