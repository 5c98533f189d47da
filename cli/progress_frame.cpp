#include "cli/progress_frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/progress_render.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {

// The formatter pads by what is seen, so wide characters keep the columns straight.
std::string padded(const std::string& text, std::size_t columns) {
  return fmt::format("{:<{}}", fit_for_terminal(text, columns), columns);
}

std::string title_line(const ProgressState& state, const LiveView& view) {
  const long s = static_cast<long>(view.elapsed_s);
  const std::string clock = fmt::format("{:02}:{:02}", s / 60, s % 60);
  const std::size_t room = static_cast<std::size_t>(view.columns) - 2 - clock.size();
  return padded(header_line(state), room) + " " + clock;
}

std::string bottom_line(const ProgressState& state, std::size_t n_hidden) {
  std::string out;
  if (!state.model_loaded) return "loading the model";
  if (n_hidden > 0) out += fmt::format("{} more agents \u00b7 ", n_hidden);
  if (state.agents.empty()) return out + (state.is_saving() ? "saving" : "reading");
  const auto n_done = std::count_if(state.agents.begin(), state.agents.end(),
                                    [](const AgentProgress& a) { return a.done(); });
  out += fmt::format("batch {} \u00b7 {:.0f} tok/s", state.n_decoding(), state.tokens_per_s());
  if (state.ctx_size > 0) {
    out += fmt::format(" \u00b7 KV {}/{} cells", short_count(state.n_cells_used()),
                       short_count(state.ctx_size));
  }
  if (const long n_reused = state.n_prompt_reused(); n_reused > 0) {
    out += fmt::format(" \u00b7 {} prompt tokens reused", short_count(n_reused));
  }
  out += fmt::format(" \u00b7 {} of {} done", n_done, state.agents.size());
  return state.is_saving() ? out + ", saving snapshots" : out;
}

std::size_t shown_columns(const std::string& line) {
  // As many as the formatter thinks: it fills up to a width, and what it added is the difference.
  constexpr std::size_t kWide = 4096;
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      text += line[i];
    } else {
      i = line.find('m', i);  // we write no other sequence than colours
      if (i == std::string::npos) break;
    }
  }
  const std::size_t padded_size = fmt::formatted_size("{:<4096}", text);
  return padded_size > text.size() ? kWide - (padded_size - text.size()) : kWide;
}

std::size_t rows_when_reflowed(const std::vector<std::size_t>& lines, int columns) {
  const auto width = static_cast<std::size_t>(std::max(columns, 1));
  std::size_t n = 0;
  for (const std::size_t line : lines) n += std::max<std::size_t>(1, (line + width - 1) / width);
  return n;
}

}  // namespace swarmkv::cli
