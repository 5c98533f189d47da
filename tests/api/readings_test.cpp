// A document that is read in several places: behind others it is computed, counted, timed and
// restored for itself.
#include <gtest/gtest.h>

#include <map>

#include "support/snapshots.h"

namespace swarmkv::testing {
namespace {

// Start token, turn and "user\n" of the fake template stand in front of the first document.
constexpr int kBefore = 1 + 1 + 5;

DocumentSpec document(const std::string& name, char letter, int n_tokens) {
  DocumentSpec spec;
  spec.name = name;
  spec.text = std::string(static_cast<std::size_t>(n_tokens), letter);
  return spec;
}

AgentSpec reading(const std::string& name, std::vector<std::string> documents) {
  AgentSpec spec = agent(name, name + " asks", 4);
  spec.ignore_eos = true;
  spec.reads = std::move(documents);
  return spec;
}

//  rules --> alone, again      other --> rules --> second
Pipeline two_places() {
  Pipeline pipeline;
  pipeline.documents = {document("rules", 'r', 90), document("other", 'o', 180)};
  pipeline.agents = {reading("alone", {"rules"}), reading("second", {"other", "rules"}),
                     reading("again", {"rules"})};
  return pipeline;
}

constexpr double kForwardMs = 2;
constexpr int kForwardTokens = 64;

RunReport run_slowly(const Pipeline& pipeline, const RunOptions& run = {},
                     const std::string& handoff = "shared") {
  ModelOptions slow;
  slow.fake_delay_ms = static_cast<int>(kForwardMs);
  EngineOptions options;
  options.ctx_size = 4000;
  options.batch_size = kForwardTokens;
  options.parallel = 4;
  options.handoff = handoff;
  Engine engine(fake_model(slow), options);
  RunReport report = engine.run(pipeline, run).wait();
  EXPECT_EQ(report.exit_code, 0);
  return report;
}

// No document can be read faster than forwards can be, and none in no time.
void expect_possible_speed(const DocumentReading& r) {
  ASSERT_TRUE(r.prefill_ms && r.prefill_tokens_per_s && r.ready_ms);
  const int n_forwards = (r.n_tokens + kForwardTokens - 1) / kForwardTokens;
  EXPECT_GE(*r.prefill_ms, n_forwards * kForwardMs);
  EXPECT_LE(*r.prefill_ms, *r.ready_ms);
  EXPECT_NEAR(*r.prefill_tokens_per_s, 1000 * r.n_tokens / *r.prefill_ms, 1e-6);
}

TEST(Readings, EachPlaceHasItsOwnTokensAndTime) {
  const RunReport report = run_slowly(two_places());

  const DocumentReport &rules = report.documents[0], &other = report.documents[1];
  ASSERT_EQ(rules.readings.size(), 2u);
  ASSERT_EQ(other.readings.size(), 1u);
  const DocumentReading &front = rules.readings[0], &behind = rules.readings[1];
  EXPECT_EQ(front.after, "");
  EXPECT_EQ(front.reader, "alone");
  EXPECT_EQ(front.n_tokens, kBefore + 90);
  EXPECT_EQ(behind.after, "other");
  EXPECT_EQ(behind.reader, "second");
  EXPECT_EQ(behind.n_tokens, 2 + 90) << "and a blank line before it";
  for (const DocumentReading* r : {&front, &behind, &other.readings[0]}) {
    EXPECT_EQ(r->source, "computed");
    EXPECT_EQ(r->computed_tokens, r->n_tokens);
    EXPECT_EQ(r->restored_tokens, 0);
    expect_possible_speed(*r);
  }
  EXPECT_GT(*behind.ready_ms, *other.ready_ms);

  EXPECT_EQ(rules.n_tokens, front.n_tokens);
  EXPECT_EQ(rules.computed_tokens, front.n_tokens + behind.n_tokens);
  EXPECT_EQ(rules.ready_ms, std::min(front.ready_ms, behind.ready_ms));
  EXPECT_EQ(rules.prefill_tokens_per_s, front.ready_ms < behind.ready_ms
                                            ? front.prefill_tokens_per_s
                                            : behind.prefill_tokens_per_s);
}

//  a, b, c, d: all fit into one forward
TEST(Readings, DocumentsOfOneForwardTakeItsTime) {
  Pipeline pipeline;
  for (const char* name : {"a", "b", "c", "d"}) {
    pipeline.documents.push_back(document(name, *name, 5));
    pipeline.agents.push_back(reading(std::string("reads_") + name, {name}));
  }
  for (const DocumentReport& d : run_slowly(pipeline).documents) {
    expect_possible_speed(d.readings.at(0));
    EXPECT_LE(*d.prefill_tokens_per_s, 1000 * d.n_tokens / kForwardMs);
  }
}

// Agent by agent, each computes what it reads: a place is computed as often as it is read.
TEST(Readings, OfAnArmThatComputesAloneAreCountedAsOften) {
  const RunReport report = run_slowly(two_places(), {}, "recompute");
  const DocumentReport& rules = report.documents[0];
  EXPECT_EQ(rules.readings[0].computed_tokens, 2 * rules.readings[0].n_tokens);
  EXPECT_EQ(rules.readings[1].computed_tokens, rules.readings[1].n_tokens);
}

TEST(Readings, EventsTellThePlace) {
  const auto log = std::make_shared<EventLog>();
  (void)run_slowly(two_places(), observed_by(log));

  std::map<std::pair<std::string, int>, int> last, n_ready;
  for (const Event& e : log->events()) {
    const std::pair<std::string, int> place(e.name, e.reading);
    if (e.type == EventType::kDocumentReady) ++n_ready[place];
    if (e.type != EventType::kDocumentProgress) continue;
    EXPECT_EQ(e.after, e.reading == 1 ? "other" : "") << "other stands nowhere else";
    EXPECT_GT(e.n_tokens, last.emplace(place, -1).first->second);
    last[place] = e.n_tokens;
    if (e.n_tokens > 0) {
      EXPECT_GE(e.ms, kForwardMs) << e.name << " was computed";
    }
  }
  const std::map<std::pair<std::string, int>, int> once = {
      {{"rules", 0}, 1}, {{"rules", 1}, 1}, {{"other", 0}, 1}};
  EXPECT_EQ(n_ready, once);
  EXPECT_EQ((last[{"rules", 0}]), kBefore + 90);
  EXPECT_EQ((last[{"rules", 1}]), 2 + 90);
}

TEST(Readings, APlanNumbersThemAsTheReportDoes) {
  const Plan plan = make_plan(fake_model(), two_places(), {}, {});
  EXPECT_EQ(plan.agents[0].readings, std::vector<int>{0});
  EXPECT_EQ(plan.agents[1].readings, (std::vector<int>{0, 1}));
  EXPECT_EQ(plan.agents[2].readings, std::vector<int>{0});
}

//  What an agent has in front of its prompt is ready before it starts, not only its room.
TEST(Readings, AnAgentStartsWhenWhatItReadsIsThere) {
  Pipeline pipeline = two_places();
  pipeline.agents[2].ready_after = {ReadyAfter::Kind::kTokens, 20, ""};
  const auto log = std::make_shared<EventLog>();
  (void)run_slowly(pipeline, observed_by(log));

  std::map<std::pair<std::string, int>, int> n_there;
  int n_started = 0;
  for (const Event& e : log->events()) {
    if (e.type == EventType::kDocumentProgress) n_there[{e.name, e.reading}] = e.n_tokens;
    if (e.type != EventType::kAgentStarted) continue;
    ++n_started;
    if (e.name == "alone") {
      EXPECT_EQ((n_there[{"rules", 0}]), kBefore + 90);
    }
    if (e.name == "second") {
      EXPECT_EQ((n_there[{"rules", 1}]), 2 + 90);
    }
    if (e.name == "again") {
      EXPECT_GE((n_there[{"rules", 0}]), kBefore + 20);
    }
  }
  EXPECT_EQ(n_started, 3);
}

class ReadingSnapshots : public SnapshotTest {};

TEST_F(ReadingSnapshots, WhatWasRestoredIsCountedInEachPlace) {
  for (const bool partly : {false, true}) {
    std::filesystem::remove_all(folder_);
    Pipeline known = two_places();
    if (partly) known.agents.pop_back();
    if (partly) known.agents[1].reads = {{"other"}};
    (void)run_slowly(known, with_store());
    const auto log = std::make_shared<EventLog>();
    const RunReport report = run_slowly(two_places(), with_store(log));

    const DocumentReport &rules = report.documents[0], &other = report.documents[1];
    const DocumentReading& behind = rules.readings[1];
    EXPECT_EQ(rules.readings[0].restored_tokens, kBefore + 90);
    EXPECT_EQ(other.readings[0].restored_tokens, kBefore + 180);
    EXPECT_EQ(behind.restored_tokens, partly ? 0 : 2 + 90);
    EXPECT_EQ(behind.computed_tokens, partly ? 2 + 90 : 0);
    EXPECT_EQ(behind.source, partly ? "computed" : "restored");
    EXPECT_EQ(rules.source, "restored") << "in one of its places at least";
    EXPECT_EQ(rules.restored_tokens, kBefore + 90 + (partly ? 0 : 2 + 90));
    EXPECT_EQ(rules.readings[0].snapshot->n_tokens, kBefore + 90);
    EXPECT_EQ(behind.snapshot->state, partly ? "saved" : "restored");
    EXPECT_EQ(behind.snapshot->n_tokens, kBefore + 180 + 2 + 90);
    if (partly) expect_possible_speed(behind);

    // One figure everywhere: what the snapshots brought is what need not be computed.
    int n_restored = 0, n_from_files = 0;
    for (const DocumentReport& d : report.documents) n_restored += d.restored_tokens;
    for (const Event& e : log->events()) {
      if (e.type == EventType::kSnapshotRestored) n_from_files += e.n_tokens;
      if (e.type == EventType::kSnapshotRestored && e.reading == 1) {
        EXPECT_EQ(e.after, "other");
      }
      if (e.type == EventType::kDocumentReady && (e.reading == 0 || !partly)) {
        EXPECT_EQ(e.ms, 0) << e.name << " was there";
      }
    }
    EXPECT_EQ(n_restored, n_from_files);
    const std::string text = std::to_string(n_restored) + " restored)";
    EXPECT_NE(to_table(report, false).find(text), std::string::npos) << to_table(report, false);
    EXPECT_NE(to_markdown(report).find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace swarmkv::testing
