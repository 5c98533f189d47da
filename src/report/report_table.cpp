// What people read at the end of a run. docs/metrics.md shows an example and says what each figure
// means.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/agent_row.h"
#include "report/report_summary.h"
#include "report/snapshot_lines.h"
#include "swarmkv/report.h"
#include "text/table.h"
#include "text/utf8.h"

namespace swarmkv {
namespace {

using internal::Align;
using internal::escape_control;
using internal::format_count;
using internal::kLabelColumns;
using internal::labelled_line;
using internal::Paint;

// More than this would push the figures off the screen.
constexpr std::size_t kMostRows = 40;
constexpr std::size_t kMostLines = 20;  // each of endings and warnings

const char* row_color(const AgentReport& a) {
  if (a.status == AgentStatus::kFailed) return Paint::kRed;
  if (a.status != AgentStatus::kFinished || a.truncated) return Paint::kYellow;
  return Paint::kPlain;
}

// What needs attention most comes first.
int rank(const AgentReport& a) {
  if (a.status == AgentStatus::kFailed) return 0;
  if (a.status != AgentStatus::kFinished) return 1;
  return a.truncated ? 2 : 3;
}

// All rows if there is room; else those that did not go well first. File order in both cases.
std::vector<const AgentReport*> rows_to_show(const std::vector<AgentReport>& agents) {
  std::vector<const AgentReport*> shown;
  shown.reserve(agents.size());
  for (const AgentReport& a : agents) shown.push_back(&a);
  if (shown.size() <= kMostRows) return shown;
  std::stable_sort(shown.begin(), shown.end(),
                   [](const AgentReport* a, const AgentReport* b) { return rank(*a) < rank(*b); });
  shown.resize(kMostRows);
  std::sort(shown.begin(), shown.end());  // elements of one vector: address order is file order
  return shown;
}

std::string agent_table(const RunReport& r, const Paint& paint) {
  if (r.agents.empty()) return "";
  constexpr std::size_t kNameColumns = 24;
  std::vector<internal::Table::Column> columns;
  for (const std::string& header : internal::agent_columns()) {
    const bool is_text = columns.size() < 2;
    columns.push_back(
        {header, is_text ? Align::kLeft : Align::kRight, columns.empty() ? kNameColumns : 0});
  }
  internal::Table table(std::move(columns));
  const std::vector<const AgentReport*> rows = rows_to_show(r.agents);
  for (const AgentReport* a : rows) table.add_row(internal::agent_row(*a));

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
    out += fmt::format("and {} more agents; see --report\n",
                       format_count(static_cast<std::int64_t>(hidden)));
  }
  return out;
}

std::string count_of_rest(std::size_t n, const char* what) {
  if (n <= kMostLines) return "";
  const auto n_rest = static_cast<std::int64_t>(n - kMostLines);
  return fmt::format("{:{}}and {} more {}; see --report\n", "", kLabelColumns, format_count(n_rest),
                     what);
}

std::string endings(const RunReport& r, const Paint& paint) {
  std::vector<const AgentReport*> ended;
  for (const AgentReport& a : r.agents) {
    if (a.error || a.skip_reason) ended.push_back(&a);
  }
  // The failed ones are why the others were skipped or cancelled.
  if (ended.size() > kMostLines) {
    std::stable_sort(ended.begin(), ended.end(), [](const AgentReport* a, const AgentReport* b) {
      return rank(*a) < rank(*b);
    });
  }
  std::string out;
  for (std::size_t i = 0; i < std::min(ended.size(), kMostLines); ++i) {
    const AgentReport& a = *ended[i];
    const std::string label = to_string(a.status);
    std::string why = a.error ? *a.error : *a.skip_reason;
    if (why == label) why.clear();
    if (why.starts_with(label + " ")) why.erase(0, label.size() + 1);  // the label says it
    out +=
        labelled_line(paint, row_color(a), label.c_str(), a.name + (why.empty() ? "" : ": " + why));
  }
  return out + count_of_rest(ended.size(), "that did not finish");
}

std::string warnings(const RunReport& r, const Paint& paint) {
  std::string out;
  const std::size_t n = std::min(r.warnings.size(), kMostLines);
  for (std::size_t i = 0; i < n; ++i) {
    const Warning& w = r.warnings[i];
    std::string line = (w.agent.empty() ? "" : w.agent + ": ") + w.message;
    if (!w.pos.empty()) line += " (" + w.pos + ")";
    if (!w.code.empty()) line += " [" + w.code + "]";
    // Advice for several in a row is given once.
    const bool repeated = i + 1 < n && r.warnings[i + 1].hint == w.hint;
    if (!w.hint.empty() && !repeated) line += "\nhelp: " + w.hint;
    out += labelled_line(paint, Paint::kYellow, "warning", line);
  }
  return out + count_of_rest(r.warnings.size(), "warnings");
}

}  // namespace

std::string to_table(const RunReport& report, bool color) {
  const Paint paint(color);
  return internal::title_line(report, paint) + agent_table(report, paint) + "\n" +
         internal::summary_lines(report) + internal::snapshot_lines(report, paint) +
         endings(report, paint) + warnings(report, paint);
}

}  // namespace swarmkv
