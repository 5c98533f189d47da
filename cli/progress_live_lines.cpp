#include <fmt/format.h>

#include <algorithm>

#include "cli/progress_frame.h"
#include "cli/progress_render.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {
namespace {

using Stage = AgentProgress::Stage;

constexpr std::size_t kMostNameColumns = 16;

// What a line has room for, by the width of the window.
struct Layout {
  std::size_t name = kMostNameColumns;  ///< columns of a name
  int bar = 18;                         ///< columns of a bar; 0 = no bar
  bool narrow = false;                  ///< names and the one figure that matters
};

Layout layout_of(const ProgressState& state, int columns) {
  Layout layout;
  std::size_t longest = 4;
  for (const AgentProgress& a : state.agents) longest = std::max(longest, shown_columns(a.name));
  for (const DocumentProgress& d : state.documents) {
    longest = std::max(longest, shown_columns(d.label()));
  }
  const std::size_t most =
      std::clamp<std::size_t>(static_cast<std::size_t>(columns) / 3, 6, kMostNameColumns);
  layout.name = std::min(longest, most);
  layout.bar = columns >= 96 ? 18 : columns >= 64 ? 10 : 0;
  layout.narrow = columns < 64;
  return layout;
}

struct Mark {
  const char* text;
  const char* color;
};

Mark mark_of(Stage stage) {
  switch (stage) {
    case Stage::kWaiting:
      return {"\u25cb", "\x1b[2m"};
    case Stage::kStarted:
    case Stage::kDecoding:
      return {"\u25cf", "\x1b[36m"};
    case Stage::kFinished:
      return {"\u2713", "\x1b[32m"};
    case Stage::kFailed:
      return {"\u2717", "\x1b[31m"};
    case Stage::kSkipped:
    case Stage::kCancelled:
      return {"-", "\x1b[33m"};
  }
  return {"?", ""};
}

std::string bar(double part, int n_cells) {
  const int full = std::clamp(static_cast<int>(part * n_cells), 0, n_cells);
  std::string out;
  for (int i = 0; i < n_cells; ++i) out += i < full ? "\u2501" : "\u254c";
  return out;
}

std::string document_line(const DocumentProgress& d, const Layout& layout) {
  const double part = d.n_total > 0 ? static_cast<double>(d.n_tokens) / d.n_total : 0;
  const int percent = static_cast<int>(100 * part);
  if (layout.narrow) {
    return fmt::format("{} {:3d} %  {} tok", padded(d.label(), layout.name), percent,
                       with_commas(d.n_total));
  }
  std::string out = fmt::format("document  {}  {:>7} tok  {} {:3d} %",
                                padded(d.label() == "document" ? "" : d.label(), layout.name),
                                with_commas(d.n_total), bar(part, layout.bar), percent);
  if (d.ms > 0 || d.n_tokens == 0) {
    out += fmt::format("  {:6.1f} s  {} tok/s", d.ms / 1000,
                       with_commas(static_cast<long>(d.tokens_per_s())));
  }
  return d.snapshot.empty() ? out : out + "  " + d.snapshot;
}

// "stop", or "stop, first 4,000 tokens only".
std::string finished_note(const AgentProgress& a) {
  if (!a.ready_after) return a.note;
  return (a.note.empty() ? "" : a.note + ", ") + early_text(*a.ready_after);
}

std::string agent_text(const ProgressState& state, const AgentProgress& a, const Layout& layout) {
  switch (a.stage) {
    case Stage::kWaiting:
      return waiting_text(state, a);
    case Stage::kStarted:
      return "reads its prompt";
    case Stage::kDecoding:
      break;
    case Stage::kFinished:
      return fmt::format("{:<9}  {:<8} {:6.1f} s", with_commas(a.n_tokens), finished_note(a),
                         a.t_ms / 1000);
    case Stage::kFailed:
      return ended_text("failed", a.note);
    case Stage::kSkipped:
      return ended_text("skipped", a.note);
    case Stage::kCancelled:
      return ended_text("cancelled", a.note);
  }
  const double part = a.max_tokens > 0 ? static_cast<double>(a.n_tokens) / a.max_tokens : 0;
  const std::string count = fmt::format("{}/{}", a.n_tokens, a.max_tokens);
  if (layout.narrow) return fmt::format("{:<9} {:4.0f} tok/s  ", count, a.tokens_per_s());
  return fmt::format("{:<9}  {} {:4.0f} tok/s  ", count, bar(part, layout.bar), a.tokens_per_s());
}

// The end of what an agent writes, as much as the line has room for.
std::string text_tail(const AgentProgress& a, std::size_t room) {
  if (room < 8 || a.tail.empty()) return "";
  const std::string tail =
      fit_for_terminal(a.tail, 4 * a.tail.size());  // escapes take four columns
  std::size_t begin = 0;
  while (shown_columns(tail.substr(begin)) >= room) {
    do {
      ++begin;
    } while (begin < tail.size() && (static_cast<unsigned char>(tail[begin]) & 0xC0) == 0x80);
  }
  return "\u2026" + tail.substr(begin);
}

std::string agent_line(const ProgressState& state, const AgentProgress& a, const LiveView& view,
                       const Layout& layout) {
  const Mark mark = mark_of(a.stage);
  std::string rest = padded(a.name, layout.name) + "  " + agent_text(state, a, layout);
  const std::size_t room = static_cast<std::size_t>(view.columns) - 5;
  if (a.stage == Stage::kDecoding && a.ready_after) {
    const std::string early = early_text(*a.ready_after) + "  ";
    if (shown_columns(rest) + early.size() <= room) rest += early;
  }
  const std::size_t used = shown_columns(rest);
  if (a.stage == Stage::kDecoding && used < room) rest += text_tail(a, room - used);
  std::string shown = fit_for_terminal(rest, room);
  shown.erase(shown.find_last_not_of(' ') + 1);
  if (!view.color) return fmt::format("  {} {}", mark.text, shown);
  return fmt::format("  {}{}\x1b[0m {}", mark.color, mark.text, shown);
}

// Those that say something now come first when not all fit; file order within each.
std::vector<const AgentProgress*> agents_to_show(const ProgressState& state, std::size_t most) {
  std::vector<const AgentProgress*> shown;
  for (const AgentProgress& a : state.agents) shown.push_back(&a);
  if (shown.size() <= most) return shown;
  const auto rank = [](const AgentProgress* a) {
    if (a->stage == Stage::kFailed) return 0;
    if (a->stage == Stage::kDecoding || a->stage == Stage::kStarted) return 1;
    return a->stage == Stage::kWaiting ? 2 : 3;
  };
  std::stable_sort(shown.begin(), shown.end(), [&](const AgentProgress* a, const AgentProgress* b) {
    return rank(a) < rank(b);
  });
  shown.resize(most);
  std::sort(shown.begin(), shown.end());  // elements of one vector: address order is file order
  return shown;
}

}  // namespace

std::vector<std::string> render_live(const ProgressState& state, const LiveView& given) {
  LiveView view = given;
  view.columns = std::max(view.columns, 20);
  std::vector<std::string> lines;
  const std::size_t width = static_cast<std::size_t>(view.columns) - 1;
  const Layout layout = layout_of(state, view.columns);
  lines.push_back(title_line(state, view));
  if (state.model_loaded) {
    for (const DocumentProgress& d : state.documents) {
      lines.push_back(fit_for_terminal(document_line(d, layout), width));
    }
  }
  const std::size_t used = lines.size() + 2;  // the bottom line, and the cursor's own
  const std::size_t rows = static_cast<std::size_t>(std::max(view.rows, 4));
  const auto shown = agents_to_show(state, rows > used ? rows - used : 0);
  for (const AgentProgress* a : shown) lines.push_back(agent_line(state, *a, view, layout));
  lines.push_back(fit_for_terminal(bottom_line(state, state.agents.size() - shown.size()), width));
  return lines;
}

}  // namespace swarmkv::cli
