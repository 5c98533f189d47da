// The final table and the answers as Markdown. Names and answers come from elsewhere: they are
// escaped, or stand in fences that they cannot close.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "report/agent_row.h"
#include "report/readings.h"
#include "report/report_summary.h"
#include "report/snapshot_lines.h"
#include "swarmkv/report.h"
#include "text/table.h"
#include "text/utf8.h"

namespace swarmkv {
namespace {

using internal::escape_control;

// On one line and without a meaning of its own.
std::string inline_text(const std::string& text) {
  constexpr std::string_view kMarks = "\\`*_[]<>|&#~!";
  std::string out;
  for (const char c : escape_control(text)) {
    if (c == '\n' || c == '\t') {
      out += ' ';
      continue;
    }
    if (kMarks.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Longer than any run of backticks inside.
std::string fenced(const std::string& text, const char* language) {
  const std::string safe = escape_control(text);
  std::size_t longest = 2, run = 0;
  for (const char c : safe) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const bool ends = safe.empty() || safe.back() == '\n';
  return fence + language + "\n" + safe + (ends ? "" : "\n") + fence + "\n";
}

std::string table_line(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out += " " + inline_text(cell) + " |";
  return out + "\n";
}

std::string agent_table(const RunReport& r) {
  if (r.agents.empty()) return "";
  const std::vector<std::string> columns = internal::agent_columns();
  std::string out = table_line(columns) + "|";
  for (std::size_t i = 0; i < columns.size(); ++i) out += i < 2 ? "---|" : "---:|";
  out += "\n";
  for (const AgentReport& agent : r.agents) out += table_line(internal::agent_row(agent));
  return out + "\n";
}

void add_fact(std::string& out, const char* label, const std::string& value) {
  if (!value.empty()) out += fmt::format("- {}: {}\n", label, inline_text(value));
}

// "41,237 tokens, 237 computed at 5,155 tok/s, 41,000 restored".
std::string reading_text(const DocumentReading& r) {
  if (r.n_tokens == 0) return r.source;
  std::string out = internal::format_count(r.n_tokens) + " tokens";
  if (r.computed_tokens == 0 && r.restored_tokens == 0) return out + ", " + r.source;
  if (r.computed_tokens > 0) out += ", " + internal::format_count(r.computed_tokens) + " computed";
  if (r.prefill_tokens_per_s) {
    out += " at " + internal::format_count(std::llround(*r.prefill_tokens_per_s)) + " tok/s";
  }
  if (r.restored_tokens > 0) out += ", " + internal::format_count(r.restored_tokens) + " restored";
  return out;
}

std::string facts(const RunReport& r) {
  std::string out;
  add_fact(out, "status", r.status + (r.exit_code == 0 ? "" : fmt::format(" ({})", r.exit_code)));
  add_fact(out, "model", r.model_name.empty() ? r.model_path : r.model_name);
  add_fact(out, "quantisation", r.quant);
  add_fact(out, "device", r.device);
  if (r.ctx_size > 0) add_fact(out, "context", internal::format_count(r.ctx_size) + " cells");
  add_fact(out, "hand-off", r.handoff);
  add_fact(out, "attention",
           r.attention + (r.attention_note.empty() ? "" : " (" + r.attention_note + ")"));
  add_fact(out, "started", r.started_at);
  for (const DocumentReport& d : r.documents) {
    for (const DocumentReading& reading : internal::shown_readings(d)) {
      add_fact(out, "document", internal::reading_name(d, reading) + ", " + reading_text(reading));
    }
  }
  return out + "\n";
}

std::string warnings(const RunReport& r) {
  if (r.warnings.empty()) return "";
  std::string out = "## Warnings\n\n";
  for (const Warning& w : r.warnings) {
    std::string line = (w.agent.empty() ? "" : w.agent + ": ") + w.message;
    if (!w.pos.empty()) line += " (" + w.pos + ")";
    if (!w.code.empty()) line += " [" + w.code + "]";
    if (!w.hint.empty()) line += "; help: " + w.hint;
    out += "- " + inline_text(line) + "\n";
  }
  return out + "\n";
}

std::string answer(const AgentReport& a) {
  std::string out = "### " + inline_text(a.name) + "\n\n";
  if (a.error) out += inline_text(to_string(a.status) + std::string(": ") + *a.error) + "\n\n";
  if (a.skip_reason) out += inline_text(*a.skip_reason) + "\n\n";
  if (a.reasoning) out += "Reasoning:\n\n" + fenced(*a.reasoning, "text") + "\n";
  if (a.status == AgentStatus::kFinished || !a.text.empty()) {
    out += fenced(a.text, a.json ? "json" : "text") + "\n";
  }
  return out;
}

}  // namespace

std::string to_markdown(const RunReport& report) {
  std::string out = "# " + inline_text(report.name.empty() ? "run" : report.name) + "\n\n";
  out += facts(report) + agent_table(report);
  const internal::Paint plain(false);
  out += fenced(internal::title_line(report, plain) + internal::summary_lines(report) +
                    internal::snapshot_lines(report, plain),
                "text") +
         "\n" + warnings(report);
  if (!report.agents.empty()) out += "## Answers\n\n";
  for (const AgentReport& agent : report.agents) out += answer(agent);
  return out;
}

}  // namespace swarmkv
