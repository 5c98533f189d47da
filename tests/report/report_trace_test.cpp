#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/nine_agents.h"
#include "swarmkv/report.h"

namespace swarmkv {
namespace {

using Json = nlohmann::json;

std::vector<Json> events_of(const RunReport& report) {
  return Json::parse(to_trace(report))["traceEvents"].get<std::vector<Json>>();
}

std::map<int, std::string> track_names(const std::vector<Json>& events) {
  std::map<int, std::string> names;
  for (const Json& e : events) {
    if (e["ph"] == "M" && e["name"] == "thread_name") names[e["tid"]] = e["args"]["name"];
  }
  return names;
}

TEST(ReportTrace, EveryEventHasWhatItsKindRequires) {
  const Json json = Json::parse(to_trace(testing::nine_agents_report()));

  EXPECT_TRUE(to_trace(testing::nine_agents_report()).starts_with("{\"traceEvents\":["));
  EXPECT_EQ(json["displayTimeUnit"], "ms");
  EXPECT_EQ(json["otherData"]["run_id"], "0123456789abcdef");
  for (const Json& e : json["traceEvents"]) {
    const std::string ph = e["ph"];
    EXPECT_TRUE(e["name"].is_string() && e["pid"].is_number() && e["tid"].is_number()) << e;
    if (ph == "M") continue;
    EXPECT_GE(e["ts"].get<double>(), 0) << e;
    if (ph == "X") {
      EXPECT_GE(e["dur"].get<double>(), 0) << e;
    }
    if (ph == "i") {
      EXPECT_EQ(e["s"], "t");
    }
    if (ph == "C") {
      EXPECT_GE(e["args"]["agents"].get<int>(), 0);
    }
    if (ph == "s" || ph == "f") {
      EXPECT_TRUE(e["id"].is_number());
    }
    EXPECT_NE(std::string("MXiCsf").find(ph), std::string::npos) << ph;
  }
}

TEST(ReportTrace, TimesAreMicroseconds) {
  for (const Json& e : events_of(testing::nine_agents_report())) {
    if (e["name"] == "prefill contract") {
      EXPECT_EQ(e["ts"], 0);
      EXPECT_EQ(e["dur"], 8'000'000);
    }
    if (e["name"] == "memo") {
      EXPECT_EQ(e["ts"], 15'900'000);
    }
  }
}

TEST(ReportTrace, SlicesOfATrackNestAndTokensLieInTheirDecode) {
  const std::vector<Json> events = events_of(testing::nine_agents_report());
  std::map<int, std::vector<std::pair<double, double>>> slices;
  std::map<int, std::pair<double, double>> decode;
  for (const Json& e : events) {
    if (e["ph"] != "X") continue;
    const double begin = e["ts"], end = begin + e["dur"].get<double>();
    slices[e["tid"]].emplace_back(begin, end);
    if (e["name"] == "decode") decode[e["tid"]] = {begin, end};
  }
  for (const auto& [track, list] : slices) {
    for (const auto& a : list) {
      for (const auto& b : list) {
        const bool apart = a.second <= b.first || b.second <= a.first;
        const bool inside = (a.first <= b.first && b.second <= a.second) ||
                            (b.first <= a.first && a.second <= b.second);
        EXPECT_TRUE(apart || inside) << track;
      }
    }
  }
  int n_tokens = 0;
  for (const Json& e : events) {
    if (e["ph"] != "i" || e["cat"] != "token") continue;
    ++n_tokens;
    const auto& [begin, end] = decode.at(e["tid"]);
    EXPECT_GE(e["ts"].get<double>(), begin);
    EXPECT_LE(e["ts"].get<double>(), end);
  }
  EXPECT_EQ(n_tokens, 120 + 150 + 500 + 320 + 350 + 90 + 200 + 60);
}

TEST(ReportTrace, EveryDocumentAndAgentHasATrackAndJoinsHaveArrows) {
  const RunReport report = testing::nine_agents_report();
  const std::vector<Json> events = events_of(report);
  const std::map<int, std::string> names = track_names(events);

  ASSERT_EQ(names.size(), 10U);
  EXPECT_EQ(names.at(1), "document contract");
  for (std::size_t i = 0; i < report.agents.size(); ++i) {
    EXPECT_EQ(names.at(static_cast<int>(i) + 2), report.agents[i].name);
  }
  std::multiset<std::string> arrows;
  std::map<int, std::string> from;
  for (const Json& e : events) {
    if (e["ph"] == "s") from[e["id"]] = names.at(e["tid"]);
    if (e["ph"] == "f") arrows.insert(from.at(e["id"]) + ">" + names.at(e["tid"]));
  }
  EXPECT_EQ(arrows, (std::multiset<std::string>{"parties>memo", "risks>memo", "obligations>memo",
                                                "memo>critic"}));
}

TEST(ReportTrace, TheCounterEndsAtNobody) {
  int last = -1, most = 0;
  for (const Json& e : events_of(testing::nine_agents_report())) {
    if (e["ph"] != "C") continue;
    last = e["args"]["agents"];
    most = std::max(most, last);
  }
  EXPECT_EQ(last, 0);
  EXPECT_EQ(most, 4);
}

TEST(ReportTrace, SurvivesAReportThatKnowsNothing) {
  RunReport report;
  report.agents.resize(3);
  report.agents[1].enqueued_ms = std::numeric_limits<double>::quiet_NaN();
  report.agents[2].enqueued_ms = 5;
  report.agents[2].finished_ms = 1;
  report.agents[2].first_token_ms = 900;

  for (const Json& e : events_of(report)) {
    if (e["ph"] == "X") {
      EXPECT_EQ(e["dur"], 0) << e;
    }
  }
}

}  // namespace
}  // namespace swarmkv
