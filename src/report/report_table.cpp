// What people read at the end of a run. docs/metrics.md shows an example and says what each figure
// means.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/report_summary.h"
#include "swarmkv/report.h"
#include "text/table.h"
#include "text/utf8.h"

namespace swarmkv {
namespace {

using internal::Align;
using internal::escape_control;
using internal::format_count;
using internal::format_fixed;
using internal::Paint;

// More rows than this would push the figures below them off the screen.
constexpr std::size_t kMostRows = 40;

std::string count_cell(const std::optional<int>& n) { return n ? format_count(*n) : "-"; }

std::string seconds_cell(const std::optional<double>& ms) {
  return ms ? format_fixed(*ms / 1000, 2) : "-";
}

std::string fixed_cell(const std::optional<double>& value) {
  return value ? format_fixed(*value, 1) : "-";
}

std::string end_cell(const AgentReport& a) {
  if (a.status != AgentStatus::kFinished) return to_string(a.status);
  if (a.truncated) return std::string(to_string(a.finish_reason)) + " !";
  return a.finish_reason == FinishReason::kNone ? "done" : to_string(a.finish_reason);
}

std::optional<int> new_prompt_tokens(const AgentReport& a) {
  if (!a.prompt_tokens || !a.cached_tokens) return std::nullopt;
  return *a.prompt_tokens - *a.cached_tokens;
}

std::vector<std::string> agent_row(const AgentReport& a) {
  return {a.name,
          end_cell(a),
          count_cell(new_prompt_tokens(a)),
          count_cell(a.cached_tokens),
          count_cell(a.completion_tokens),
          seconds_cell(a.ttft_ms),
          seconds_cell(a.ttft_warm_ms),
          fixed_cell(a.tpot_ms),
          fixed_cell(a.itl_ms.p95),
          seconds_cell(a.e2e_ms),
          fixed_cell(a.output_tokens_per_s)};
}

const char* row_color(const AgentReport& a) {
  if (a.status == AgentStatus::kFailed) return Paint::kRed;
  if (a.status != AgentStatus::kFinished || a.truncated) return Paint::kYellow;
  return Paint::kPlain;
}

// All rows if there is room; else those that did not go well first. File order in both cases.
std::vector<const AgentReport*> rows_to_show(const std::vector<AgentReport>& agents) {
  std::vector<const AgentReport*> shown;
  for (const AgentReport& a : agents) shown.push_back(&a);
  if (shown.size() <= kMostRows) return shown;
  std::stable_partition(shown.begin(), shown.end(), [](const AgentReport* a) {
    return a->status != AgentStatus::kFinished || a->truncated;
  });
  shown.resize(kMostRows);
  std::sort(shown.begin(), shown.end());  // elements of one vector: address order is file order
  return shown;
}

std::string agent_table(const RunReport& r, const Paint& paint) {
  if (r.agents.empty()) return "";
  internal::Table table({{"agent", Align::kLeft, 24},
                         {"end", Align::kLeft},
                         {"new prompt", Align::kRight},
                         {"cached", Align::kRight},
                         {"output", Align::kRight},
                         {"TTFT s", Align::kRight},
                         {"warm s", Align::kRight},
                         {"TPOT ms", Align::kRight},
                         {"ITL p95", Align::kRight},
                         {"E2E s", Align::kRight},
                         {"tok/s", Align::kRight}});
  const std::vector<const AgentReport*> rows = rows_to_show(r.agents);
  for (const AgentReport* a : rows) table.add_row(agent_row(*a));

  // The table pads by what is seen, so colours go around its finished lines.
  std::string out = "\n";
  const std::string text = table.to_string();
  std::size_t row = 0;
  for (std::size_t begin = 0; begin < text.size(); ++row) {
    const std::size_t end = text.find('\n', begin);
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    out += paint(row == 0 ? Paint::kBold : row_color(*rows[row - 1]), line) + "\n";
    begin = end + 1;
  }
  const std::size_t hidden = r.agents.size() - rows.size();
  if (hidden > 0) {
    out += fmt::format("... and {} more; --report FILE.json has them all\n",
                       format_count(static_cast<std::int64_t>(hidden)));
  }
  return out;
}

std::string failures(const RunReport& r, const Paint& paint) {
  std::string out;
  std::size_t n_shown = 0;
  for (const AgentReport& a : r.agents) {
    if (!a.error && !a.skip_reason) continue;
    if (++n_shown > kMostRows) continue;
    const std::string& why = a.error ? *a.error : *a.skip_reason;
    out += paint(row_color(a), fmt::format("{:<9}", to_string(a.status))) +
           fmt::format(" {}: {}\n", escape_control(a.name), escape_control(why));
  }
  if (n_shown > kMostRows) out += fmt::format("... and {} more\n", n_shown - kMostRows);
  return out;
}

std::string warning_lines(const RunReport& r, const Paint& paint) {
  std::string out;
  std::size_t n_shown = 0;
  for (const Warning& w : r.warnings) {
    if (++n_shown > kMostRows) continue;
    std::string line = w.agent.empty() ? "" : escape_control(w.agent) + ": ";
    line += escape_control(w.message);
    if (!w.pos.empty()) line += " (" + escape_control(w.pos) + ")";
    if (!w.code.empty()) line += " [" + escape_control(w.code) + "]";
    if (!w.hint.empty()) line += "      " + escape_control(w.hint);
    out += paint(Paint::kYellow, "warning   ") + line + "\n";
  }
  if (n_shown > kMostRows) out += fmt::format("... and {} more warnings\n", n_shown - kMostRows);
  return out;
}

}  // namespace

std::string to_table(const RunReport& report, bool color) {
  const Paint paint(color);
  return internal::title_line(report, paint) + agent_table(report, paint) + "\n" +
         internal::summary_lines(report) + failures(report, paint) + warning_lines(report, paint);
}

}  // namespace swarmkv
