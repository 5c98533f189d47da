#include <gtest/gtest.h>

#include <sstream>

#include "cli/progress_render.h"
#include "cli/progress_state.h"
#include "cli/snapshot_text.h"
#include "support/golden.h"
#include "text/table.h"

namespace swarmkv::cli {
namespace {

Event event(EventType type, double t_ms, const std::string& name, int n_tokens = 0, int n_total = 0,
            const std::string& text = "", const std::string& code = "") {
  Event e;
  e.type = type;
  e.t_ms = t_ms;
  e.name = name;
  e.text = text;
  e.code = code;
  e.n_tokens = n_tokens;
  e.n_total = n_total;
  return e;
}

// So many tokens of a document are there, computed in so many ms.
Event computed(EventType type, double t_ms, const std::string& name, int n_tokens, int n_total,
               double ms) {
  Event e = event(type, t_ms, name, n_tokens, n_total);
  e.ms = ms;
  return e;
}

//  contract --> teaser, obligations, risk; memo needs obligations and risk
Pipeline contract_review() {
  Pipeline p;
  p.documents.emplace_back().name = "contract";
  for (const char* name : {"teaser", "obligations", "risk", "memo"}) {
    AgentSpec& agent = p.agents.emplace_back();
    agent.name = name;
    agent.max_tokens = 600;
  }
  p.agents[3].needs = {"obligations", "risk"};
  return p;
}

std::vector<Event> story() {
  using T = EventType;
  return {
      event(T::kRunStarted, 0, "contract-review"),
      computed(T::kDocumentProgress, 100, "contract", 64, 41237, 100),
      computed(T::kDocumentProgress, 1500, "contract", 8000, 41237, 1500),
      computed(T::kDocumentProgress, 2200, "contract", 12000, 41237, 2200),
      computed(T::kDocumentReady, 8000, "contract", 41237, 41237, 8000),
      event(T::kAgentStarted, 8010, "teaser"),
      event(T::kAgentStarted, 8010, "obligations"),
      event(T::kAgentFirstToken, 8100, "teaser", 1),
      event(T::kAgentFirstToken, 8100, "obligations", 1),
      event(T::kAgentDelta, 9000, "obligations", 100, 0, "The buyer\nmust pay \x1b[31m on time"),
      event(T::kAgentFailed, 9200, "risk", 0, 0, "timed out after 1 s", "timeout"),
      event(T::kAgentPreempted, 9300, "teaser"),
      event(T::kAgentStarted, 9400, "teaser"),
      event(T::kAgentFinished, 9500, "teaser", 120, 0, "", "stop"),
      event(T::kAgentSkipped, 9600, "memo", 0, 0, "'risk' failed")};
}

ProgressState state_after(std::size_t n_events) {
  ProgressState state = initial_state(contract_review(), "contract-review", "tiny-Q4");
  const std::vector<Event> events = story();
  for (std::size_t i = 0; i < n_events && i < events.size(); ++i) apply(state, events[i]);
  return state;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

TEST(Progress, DrawsTheLiveRegionAsInTheGoldenScreens) {
  ProgressState loading = state_after(0);
  ProgressState prefilling = state_after(3);
  ProgressState decoding = state_after(11);
  ProgressState done = state_after(100);
  for (ProgressState* s : {&prefilling, &decoding, &done}) {
    s->model_loaded = true;
    s->device = "CPU";
    s->ctx_size = 49152;
  }

  std::string screens;
  for (const ProgressState* s : {&loading, &prefilling, &decoding, &done}) {
    screens += joined(render_live(*s, {100, 24, false, s->t_ms / 1000})) + "\n";
  }

  swarmkv::testing::expect_golden("cli/live_region.txt", screens);
}

TEST(Progress, WritesThePlainLogAsInTheGoldenText) {
  ProgressState state = state_after(0);
  PlainMemory memory;
  std::string log = header_line(state) + "\n";
  for (const Event& e : story()) {
    apply(state, e);
    if (const auto line = plain_line(state, e, memory)) log += *line + "\n";
  }

  swarmkv::testing::expect_golden("cli/plain_log.txt", log);
}

TEST(Progress, TellsAboutPrefillAtOnceAndThenEveryTwoSeconds) {
  ProgressState state = state_after(0);
  PlainMemory memory;
  std::vector<double> said;
  for (int i = 1; i <= 100; ++i) {
    const Event e = event(EventType::kDocumentProgress, 100.0 * i, "contract", 100 * i, 20000);
    apply(state, e);
    if (plain_line(state, e, memory)) said.push_back(e.t_ms);
  }

  EXPECT_EQ(said, (std::vector<double>{100, 2100, 4100, 6100, 8100}));
}

TEST(Progress, SaysOnceWhatADocumentIsAndHowAnAgentEnded) {
  Pipeline pipeline;
  pipeline.documents.emplace_back().name = "document";
  pipeline.agents.emplace_back().name = "a";
  ProgressState state = initial_state(pipeline, "t", "m");
  state.model_loaded = true;
  PlainMemory memory;
  const auto line = [&](const Event& e) {
    apply(state, e);
    return plain_line(state, e, memory).value_or("");
  };

  EXPECT_EQ(line(event(EventType::kDocumentProgress, 0, "document", 5, 10)),
            "    0.0 s  document: 5 of 10 tokens (50 %)");
  EXPECT_EQ(line(event(EventType::kDocumentReady, 0, "document", 10, 10)),
            "    0.0 s  document: ready, 10 tokens");
  EXPECT_EQ(line(event(EventType::kAgentSkipped, 0, "a", 0, 0, "skipped because 'b' failed")),
            "    0.0 s  a: skipped because 'b' failed");
  EXPECT_EQ(line(event(EventType::kAgentCancelled, 0, "a", 0, 0, "interrupted by Ctrl-C")),
            "    0.0 s  a: cancelled: interrupted by Ctrl-C");
  const std::string screen = joined(render_live(state, {100, 24, false, 0}));
  EXPECT_EQ(screen.find("document  document"), std::string::npos) << screen;
  EXPECT_NE(screen.find("cancelled: interrupted by Ctrl-C"), std::string::npos) << screen;
}

TEST(Progress, StaysInsideTheTerminalWhateverItsSize) {
  ProgressState state = state_after(11);
  state.model_loaded = true;
  state.title = std::string(300, 'x');
  state.agents[1].tail =
      "\xe4\xbd\xa0\xe5\xa5\xbd wide \xf0\x9f\x98\x80 text " + std::string(300, 'y');
  for (int columns = 1; columns < 160; columns += 3) {
    for (const int rows : {1, 5, 8, 24}) {
      const auto lines = render_live(state, {columns, rows, false, 1});

      EXPECT_LT(static_cast<int>(lines.size()), std::max(rows, 5)) << rows << " rows";
      for (const std::string& line : lines) {
        EXPECT_EQ(line.find_first_of("\x1b\n\t"), std::string::npos) << line;
        EXPECT_LT(internal::display_width(line), static_cast<std::size_t>(std::max(columns, 20)))
            << line;
      }
    }
  }
}

TEST(Progress, ShowsTheBusyAgentsFirstWhenThereIsNoRoomForAll) {
  Pipeline pipeline;
  for (int i = 0; i < 300; ++i) {
    pipeline.agents.emplace_back().name = "a" + std::to_string(i);
  }
  ProgressState state = initial_state(pipeline, "many", "m");
  state.model_loaded = true;
  apply(state, event(EventType::kAgentStarted, 1, "a200"));
  apply(state, event(EventType::kAgentFirstToken, 2, "a200", 1));

  const std::string screen = joined(render_live(state, {80, 10, false, 1}));

  EXPECT_NE(screen.find("a200"), std::string::npos);
  EXPECT_NE(screen.find("293 more agents"), std::string::npos) << screen;
}

TEST(Progress, ShowsEachDocumentOnItsOwnLineWithItsOwnSpeed) {
  Pipeline pipeline = contract_review();
  pipeline.documents.emplace_back().name = "annex";
  ProgressState state = initial_state(pipeline, "t", "m");
  state.model_loaded = true;
  PlainMemory memory;
  const auto line = [&](const Event& e) {
    apply(state, e);
    return plain_line(state, e, memory).value_or("");
  };
  line(computed(EventType::kDocumentProgress, 4000, "contract", 1000, 2000, 4000));
  line(computed(EventType::kDocumentReady, 8000, "contract", 2000, 2000, 8000));

  const auto of_annex = [](double t_ms, int n_tokens, double ms) {
    return computed(EventType::kDocumentProgress, t_ms, "annex", n_tokens, 400, ms);
  };
  const std::string first = line(of_annex(8500, 100, 500));
  const std::string soon = line(of_annex(9000, 200, 1000));

  EXPECT_EQ(first, "    8.5 s  document annex: 100 of 400 tokens (25 %), 200 tok/s");
  EXPECT_EQ(soon, "") << "two seconds have not passed for this document";
  const std::string screen = joined(render_live(state, {100, 24, false, 9}));
  EXPECT_NE(screen.find("document  contract       2,000 tok"), std::string::npos) << screen;
  EXPECT_NE(screen.find("document  annex            400 tok"), std::string::npos) << screen;
  EXPECT_NE(screen.find(" 50 %     1.0 s  200 tok/s"), std::string::npos) << screen;
}

// teaser saw 400 of 1,000 tokens; obligations all of them; memo has not begun.
ProgressState planned_state() {
  Pipeline pipeline = contract_review();
  ProgressState state = initial_state(pipeline, "t", "m");
  state.model_loaded = true;
  state.ctx_size = 49152;
  Plan plan;
  plan.prefix = {{-1, 0, 400, {}, 4}, {0, 400, 1000, {}, 3}};
  for (const char* name : {"teaser", "obligations", "risk", "memo"}) {
    Plan::Agent& agent = plan.agents.emplace_back();
    agent.name = name;
    agent.prefix = plan.agents.size() == 1 ? 0 : 1;
    agent.n_own_max = 30;
  }
  plan.agents[0].ready_after = 400;
  plan.agents[3].inserts = true;
  plan.agents[3].n_own_max = 1230;
  apply_plan(state, plan);
  return state;
}

TEST(Progress, TellsOfEarlyStartsInEveryStage) {
  ProgressState state = planned_state();
  PlainMemory memory;
  const auto teaser = [&] {
    const auto lines = render_live(state, {100, 24, false, 1});
    return *std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("teaser") != std::string::npos;
    });
  };

  EXPECT_NE(teaser().find("waits for the first 400 tokens"), std::string::npos) << teaser();
  const Event started = event(EventType::kAgentStarted, 10, "teaser");
  apply(state, started);
  EXPECT_EQ(plain_line(state, started, memory),
            "    0.0 s  teaser: started, first 400 tokens only");
  apply(state, event(EventType::kAgentFirstToken, 20, "teaser", 1));
  EXPECT_NE(teaser().find("first 400 tokens only"), std::string::npos) << teaser();
  apply(state, event(EventType::kAgentFinished, 30, "teaser", 12, 0, "", "stop"));
  EXPECT_NE(teaser().find("stop, first 400 tokens only"), std::string::npos) << teaser();
}

TEST(Progress, ShowsReasoningUntilTheAnswerBegins) {
  ProgressState state = initial_state(contract_review(), "contract-review", "tiny-Q4");
  Event thought = event(EventType::kAgentDelta, 10, "risk", 3);
  thought.reasoning = "Is it late?";

  apply(state, thought);
  EXPECT_EQ(state.agent("risk")->tail, "Is it late?");
  EXPECT_EQ(state.agent("risk")->n_tokens, 3);
  apply(state, event(EventType::kAgentDelta, 20, "risk", 5, 0, "Clause"));
  apply(state, event(EventType::kAgentDelta, 30, "risk", 6, 0, " 4"));
  EXPECT_EQ(state.agent("risk")->tail, "Clause 4");
}

TEST(Progress, CountsCellsAndReusedTokensFromThePlan) {
  ProgressState state = planned_state();
  apply(state, event(EventType::kDocumentProgress, 5, "contract", 400, 1000));
  EXPECT_EQ(state.n_cells_used(), 400);
  apply(state, event(EventType::kAgentStarted, 6, "teaser"));
  EXPECT_EQ(state.n_cells_used(), 430);
  apply(state, event(EventType::kAgentFirstToken, 7, "teaser", 1));
  EXPECT_EQ(state.n_prompt_reused(), 0) << "it is the first to have them";
  apply(state, event(EventType::kDocumentReady, 9, "contract", 1000, 1000));
  for (const char* name : {"obligations", "risk"}) {
    apply(state, event(EventType::kAgentStarted, 10, name));
    apply(state, event(EventType::kAgentFirstToken, 11, name, 1));
  }

  EXPECT_EQ(state.n_cells_used(), 1000 + 3 * 31);
  EXPECT_EQ(state.n_prompt_reused(), 400 + 1000 + 1000 - 1000);
  const std::string screen = joined(render_live(state, {100, 24, false, 1}));
  EXPECT_NE(screen.find("KV 1,093/49.2k cells \u00b7 1,400 prompt tokens reused"),
            std::string::npos)
      << screen;

  for (const char* name : {"obligations", "risk"}) {
    apply(state, event(EventType::kAgentFinished, 20, name, 100, 0, "", "stop"));
  }
  apply(state, event(EventType::kAgentStarted, 21, "memo"));
  EXPECT_EQ(state.n_cells_used(), 1000 + 31 + (1230 - 2 * (600 - 100)))
      << "answers were shorter than planned for";
}

// Of two agents one reads the rules alone, the other behind a letter that comes from a snapshot.
TEST(Progress, ShowsADocumentInEachOfItsPlaces) {
  using T = EventType;
  Pipeline pipeline;
  for (const char* name : {"rules", "letter"}) pipeline.documents.emplace_back().name = name;
  for (const char* name : {"alone", "second"}) pipeline.agents.emplace_back().name = name;
  ProgressState state = initial_state(pipeline, "t", "m");
  state.model_loaded = true;
  Plan plan;
  plan.agents.resize(2);
  plan.agents[0].name = "alone";
  plan.agents[0].reads = {"rules"};
  plan.agents[0].readings = {0};
  plan.agents[1].name = "second";
  plan.agents[1].reads = {"letter", "rules"};
  plan.agents[1].readings = {0, 1};
  apply_plan(state, plan);
  PlainMemory memory;
  const auto line = [&](const Event& e) {
    apply(state, e);
    return plain_line(state, e, memory).value_or("");
  };
  const auto screen = [&] { return joined(render_live(state, {100, 24, false, 1})); };
  const auto said_of = [&](const std::string& name) {
    const std::string lines = screen();
    const std::size_t begin = lines.find(' ' + name + ' ') + name.size() + 2;
    const std::size_t text = lines.find_first_not_of(' ', begin);
    return lines.substr(text, lines.find('\n', text) - text);
  };
  const auto behind = [](Event e) {
    e.reading = 1;
    e.after = "letter";
    return e;
  };

  EXPECT_EQ(said_of("second"), "waits");
  EXPECT_EQ(line(event(T::kAgentEnqueued, 0, "alone")), "    0.0 s  alone: waits for rules");
  EXPECT_EQ(line(event(T::kAgentEnqueued, 0, "second")),
            "    0.0 s  second: waits for letter, rules");
  EXPECT_EQ(said_of("alone"), "waits for rules");
  line(event(T::kDocumentReady, 10, "letter", 185, 185));
  line(computed(T::kDocumentReady, 100, "rules", 97, 97, 100));
  EXPECT_EQ(said_of("alone"), "waits for room");
  EXPECT_EQ(line(event(T::kAgentEnqueued, 120, "alone")), "") << "what it reads is there";
  EXPECT_EQ(said_of("second"), "waits for rules") << "behind the letter they are not there yet";
  EXPECT_EQ(line(behind(computed(T::kDocumentProgress, 150, "rules", 50, 99, 50))),
            "    0.1 s  document rules after letter: 50 of 99 tokens (50 %), 1,000 tok/s");
  EXPECT_EQ(line(behind(computed(T::kDocumentReady, 300, "rules", 99, 99, 200))),
            "    0.3 s  document rules after letter: ready, 99 tokens");
  EXPECT_EQ(line(event(T::kAgentStarted, 300, "second")), "    0.3 s  second: started");
  EXPECT_EQ(said_of("second"), "reads its prompt");
  EXPECT_NE(screen().find(" 97 tok  \u2501"), std::string::npos) << screen();
  EXPECT_NE(screen().find("0.1 s  970 tok/s\n"), std::string::npos) << screen();
  EXPECT_NE(screen().find("rules after let\u2026"), std::string::npos) << screen();
  EXPECT_NE(screen().find("0.2 s  495 tok/s\n"), std::string::npos) << screen();
  EXPECT_NE(screen().find("100 %\n"), std::string::npos) << "of the letter nothing was computed";
  EXPECT_EQ(state.n_cells_used(), 185 + 97 + 99);
}

// It writes on after it had to step back, and nothing says so but its text.
TEST(Progress, AnAgentThatCameBackWritesAgain) {
  ProgressState state = state_after(0);
  apply(state, event(EventType::kAgentFirstToken, 10, "risk", 1));
  apply(state, event(EventType::kAgentPreempted, 20, "risk"));
  EXPECT_EQ(state.n_decoding(), 0);
  apply(state, event(EventType::kAgentDelta, 30, "risk", 5, 0, "on"));
  EXPECT_EQ(state.n_decoding(), 1);
}

Event snapshot_event(EventType type, const std::string& text, int n_tokens, int n_total) {
  Event e = event(type, 200, "contract", n_tokens, n_total, text);
  if (type != EventType::kSnapshotRejected) {
    e.size_bytes = 80'740'352;
    e.ms = 213;
  }
  return e;
}

TEST(Progress, SaysWhatBecameOfASnapshot) {
  ProgressState state = state_after(0);
  state.model_loaded = true;
  PlainMemory memory;
  const auto line = [&](const Event& e) {
    apply(state, e);
    return plain_line(state, e, memory).value_or("");
  };
  const auto screen = [&] { return joined(render_live(state, {140, 24, false, 1})); };
  using T = EventType;

  EXPECT_EQ(line(snapshot_event(T::kSnapshotRejected, "KV type q8_0 \u2260 f16 \x1b[2J", 0, 0)),
            "    0.2 s  document contract: rejected: KV type q8_0 \u2260 f16 \\x1b[2J");
  EXPECT_NE(screen().find("rejected: KV type q8_0 \u2260 f16 \\x1b"), std::string::npos)
      << screen();
  EXPECT_EQ(
      line(snapshot_event(T::kSnapshotRestored, "/cache/5f0c.swkv", 3684, 3684)),
      "    0.2 s  document contract: restored 3,684 tokens from 5f0c.swkv (77.0 MiB, 0.21 s)");
  line(event(T::kDocumentReady, 210, "contract", 3684, 3684));
  EXPECT_NE(screen().find("3,684 tok  \u2501"), std::string::npos) << screen();
  EXPECT_NE(screen().find("100 %  restored (77.0 MiB, 0.21 s)\n"), std::string::npos) << screen();
  EXPECT_EQ(line(snapshot_event(T::kSnapshotSaved, "/cache/77aa.swkv", 41237, 0)),
            "    0.2 s  document contract: saved 41,237 tokens to 77aa.swkv (77.0 MiB, 0.21 s)");
  EXPECT_NE(screen().find("saved (77.0 MiB, 0.21 s)"), std::string::npos) << screen();
}

TEST(Progress, OfASnapshotWithoutFiguresItSaysWhatIsKnown) {
  Event e = event(EventType::kSnapshotRestored, 0, "contract", 5, 5, "a.swkv");
  EXPECT_EQ(snapshot_news(e), "restored 5 tokens from a.swkv");
  EXPECT_EQ(snapshot_note(e), "restored");
  e.type = EventType::kSnapshotSaved;
  e.n_tokens = 0;
  e.text.clear();
  EXPECT_EQ(snapshot_news(e), "saved");
  EXPECT_EQ(snapshot_news(event(EventType::kDocumentReady, 0, "contract")), "");
}

// 3,000 of 4,000 tokens come from a file after 200 ms; the rest is computed in a second.
TEST(Progress, CountsOnlyComputedTokensAsSpeedAndTheOthersAsReused) {
  ProgressState state = planned_state();
  PlainMemory memory;
  apply(state, snapshot_event(EventType::kSnapshotRestored, "/c/a.swkv", 3000, 4000));
  const Event progress = computed(EventType::kDocumentProgress, 700, "contract", 3500, 4000, 500);
  apply(state, progress);

  EXPECT_EQ(plain_line(state, progress, memory),
            "    0.7 s  document contract: 3,500 of 4,000 tokens (87 %), 1,000 tok/s");
  apply(state, computed(EventType::kDocumentReady, 1200, "contract", 4000, 4000, 1000));
  const std::string screen = joined(render_live(state, {120, 24, false, 1}));
  EXPECT_NE(screen.find("1.0 s  1,000 tok/s  3,000 restored (77.0 MiB, 0.21 s)"), std::string::npos)
      << screen;
  apply(state, event(EventType::kAgentFirstToken, 1300, "obligations", 1));
  EXPECT_EQ(state.n_prompt_reused(), 0) << "it sees 1,000 by its plan, and as many were computed";
  apply(state, event(EventType::kAgentFirstToken, 1300, "risk", 1));
  EXPECT_EQ(state.n_prompt_reused(), 1000);
}

TEST(Progress, SaysWhyARunIsNotOverYet) {
  Pipeline pipeline = contract_review();
  pipeline.documents[0].snapshot = "auto";
  const auto bottom = [](const ProgressState& state) {
    return render_live(state, {100, 24, false, 1}).back();
  };
  ProgressState state = initial_state(pipeline, "t", "m");
  state.model_loaded = true;
  apply(state, computed(EventType::kDocumentReady, 10, "contract", 100, 100, 9));
  for (const char* name : {"teaser", "obligations", "risk"}) {
    apply(state, event(EventType::kAgentFinished, 20, name));
  }
  EXPECT_EQ(bottom(state).find("saving"), std::string::npos);
  apply(state, event(EventType::kAgentFinished, 20, "memo"));
  EXPECT_NE(bottom(state).find("4 of 4 done, saving snapshots"), std::string::npos);
  apply(state, snapshot_event(EventType::kSnapshotSaved, "a.swkv", 100, 0));
  EXPECT_EQ(bottom(state).find("saving"), std::string::npos);
}

TEST(Progress, KnowsTheRowsOfLinesThatANarrowerWindowBreaks) {
  EXPECT_EQ(shown_columns("  \x1b[32m\u2713\x1b[0m name"), 8u);
  EXPECT_EQ(rows_when_reflowed({}, 80), 0u);
  EXPECT_EQ(rows_when_reflowed({79, 0, 40}, 80), 3u);
  EXPECT_EQ(rows_when_reflowed({79, 0, 40}, 40), 4u);
  EXPECT_EQ(rows_when_reflowed({79, 0, 40}, 20), 7u);
  EXPECT_EQ(rows_when_reflowed({79}, 0), 79u);
}

TEST(Progress, SaysTheOneFigureThatMattersInANarrowWindow) {
  ProgressState state = planned_state();
  apply(state, event(EventType::kDocumentProgress, 5, "contract", 400, 1000));
  apply(state, event(EventType::kAgentFinished, 30, "teaser", 12, 0, "", "stop"));
  const std::string screen = joined(render_live(state, {20, 24, false, 1}));
  EXPECT_NE(screen.find("contr\u2026  40 %"), std::string::npos) << screen;
  EXPECT_NE(screen.find("\u2713 teaser  12"), std::string::npos) << screen;
}

TEST(Progress, WritesLargeCountsShort) {
  EXPECT_EQ(short_count(0), "0");
  EXPECT_EQ(short_count(9999), "9,999");
  EXPECT_EQ(short_count(49152), "49.2k");
  EXPECT_EQ(short_count(12'345'678), "12.3M");
}

TEST(Progress, PutsCommasEveryThreeDigits) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(-1234567), "-1,234,567");
  EXPECT_EQ(with_commas(-123), "-123");
}

}  // namespace
}  // namespace swarmkv::cli
