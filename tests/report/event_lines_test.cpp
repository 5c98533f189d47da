#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "swarmkv/event.h"

namespace swarmkv {
namespace {

using Json = nlohmann::json;

Event event(EventType type, double t_ms, std::string name = "", std::string text = "") {
  Event e;
  e.type = type;
  e.t_ms = t_ms;
  e.name = std::move(name);
  e.text = std::move(text);
  return e;
}

Event delta(double t_ms, std::string name, std::string text, int n_tokens) {
  Event e = event(EventType::kAgentDelta, t_ms, std::move(name), std::move(text));
  e.n_tokens = n_tokens;
  return e;
}

std::vector<Json> parsed(const std::string& lines) {
  std::vector<Json> out;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) out.push_back(Json::parse(line));
  return out;
}

TEST(EventLines, AreNumberedAnewAndWithoutGaps) {
  EventLines lines;
  Event first = event(EventType::kRunStarted, 0), second = event(EventType::kRunFinished, 1);
  first.seq = 40;
  second.seq = 70;

  std::string text = lines.add(first);
  text += lines.add(second);
  const auto out = parsed(text);

  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0]["seq"], 0);
  EXPECT_EQ(out[1]["seq"], 1);
}

TEST(EventLines, MakeOneDeltaOfWhatAnAgentWritesWithin50Ms) {
  EventLines lines;

  EXPECT_EQ(lines.add(delta(100, "a", "one ", 1)), "");
  EXPECT_EQ(lines.add(delta(120, "b", "B", 1)), "");
  EXPECT_EQ(lines.add(delta(149, "a", "two ", 2)), "");
  EXPECT_EQ(lines.due_ms(), 150);
  const auto out = parsed(lines.add(delta(151, "a", "three", 3)));

  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0]["agent"], "a");
  EXPECT_EQ(out[0]["text"], "one two ");
  EXPECT_EQ(out[0]["n_tokens"], 2);
  EXPECT_EQ(out[0]["t_ms"], 150);
  EXPECT_EQ(out[1]["agent"], "b");
  EXPECT_EQ(lines.due_ms(), 201);
  const auto rest = parsed(lines.flush());
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0]["text"], "three");
  EXPECT_EQ(rest[0]["t_ms"], 201) << "when its time was over, whenever that is noticed";
  EXPECT_FALSE(lines.due_ms());
}

TEST(EventLines, LoseNoTextAndKeepDeltasOfAnAgent50MsApart) {
  EventLines lines;
  std::string all, expected;
  for (int i = 0; i < 500; ++i) {
    const double t = i * 7.3;
    expected += static_cast<char>('a' + i % 26);
    all += lines.add(delta(t, "a", expected.substr(expected.size() - 1), i + 1));
    if (i % 9 == 0) all += lines.add(event(EventType::kDocumentProgress, t, "doc"));
  }
  all += lines.add(event(EventType::kRunFinished, 4000));

  std::string text;
  double last = -100, last_of_all = -1;
  const auto out = parsed(all);
  for (const Json& line : out) {
    EXPECT_GE(line["t_ms"], last_of_all);
    last_of_all = line["t_ms"];
    if (line["type"] != "agent.delta") continue;
    text += line["text"];
    EXPECT_GE(line["t_ms"].get<double>() - last, 49.9);
    last = line["t_ms"];
  }
  EXPECT_EQ(text, expected);
  EXPECT_EQ(out.back()["type"], "run.finished");
}

TEST(EventLines, ReasoningAndAnswerOfOneWindowStandInOneDeltaEachOfItsOwn) {
  EventLines lines;
  Event thought = delta(100, "a", "", 1), more = delta(110, "a", "B", 2);
  thought.reasoning = "A ";
  more.reasoning = "or B?";
  (void)lines.add(thought);
  (void)lines.add(more);

  const auto out = parsed(lines.flush());

  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0]["reasoning"], "A or B?");
  EXPECT_EQ(out[0]["text"], "B");
  EXPECT_EQ(out[0]["n_tokens"], 2);
}

TEST(EventLines, AnAgentsLastWordsComeBeforeItsEnd) {
  EventLines lines;
  (void)lines.add(delta(100, "a", "last", 1));
  (void)lines.add(delta(101, "b", "more", 1));

  const auto out = parsed(lines.add(event(EventType::kAgentFinished, 102, "a", "last")));

  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0]["type"], "agent.delta");
  EXPECT_EQ(out[0]["text"], "last");
  EXPECT_EQ(out[1]["type"], "agent.finished");
  EXPECT_TRUE(lines.due_ms()) << "the other agent is not concerned";
}

TEST(EventLines, NothingIsHeldBackBehindTheEndOfTheRun) {
  EventLines lines;
  (void)lines.add(delta(100, "a", "x", 1));

  const auto out = parsed(lines.add(event(EventType::kRunFinished, 101)));

  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[1]["type"], "run.finished");
  EXPECT_FALSE(lines.due_ms());
}

}  // namespace
}  // namespace swarmkv
