#include <gtest/gtest.h>

#include <sstream>

#include "cli/progress_render.h"
#include "cli/progress_state.h"
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
      event(T::kDocumentProgress, 100, "contract", 64, 41237),
      event(T::kDocumentProgress, 1500, "contract", 8000, 41237),
      event(T::kDocumentProgress, 2200, "contract", 12000, 41237),
      event(T::kDocumentReady, 8000, "contract", 41237, 41237),
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
            "    0.0 s  document: 5 of 10 tokens (50 %), 0 tok/s");
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

TEST(Progress, PutsCommasEveryThreeDigits) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(-1234567), "-1,234,567");
  EXPECT_EQ(with_commas(-123), "-123");
}

}  // namespace
}  // namespace swarmkv::cli
