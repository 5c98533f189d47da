#include "report/report_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/table.h"
#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

constexpr std::size_t kTitleColumns = 56;
constexpr std::size_t kMostPathElements = 12;

std::string seconds(double ms, int decimals) { return format_fixed(ms / 1000, decimals); }

// The command as it would be typed, as far as there is room.
std::string command_text(const RunReport& r) {
  std::string out = "swarmkv";
  if (r.command.empty()) return out + " " + r.name;
  for (const std::string& word : r.command) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n\"'") == std::string::npos;
    out += plain ? " " + word : " \"" + word + "\"";
    if (out.size() > 8 * kTitleColumns) break;
  }
  return out;
}

void append_count(std::string& out, int n, const char* what) {
  if (n == 0) return;
  if (!out.empty()) out += " \u00b7 ";
  out += format_count(n) + " " + what;
}

std::string counts(const RunReport& r) {
  std::string out;
  append_count(out, r.n_finished, "finished");
  append_count(out, r.n_failed, "failed");
  append_count(out, r.n_skipped, "skipped");
  append_count(out, r.n_cancelled, "cancelled");
  append_count(out, r.n_truncated, "cut");
  return out.empty() ? "no agents" : out;
}

// The document's share shows that it was computed once, or came from somewhere else.
std::string documents_part(const RunReport& r) {
  if (r.documents.empty()) return "";
  std::int64_t n_computed = 0, n_restored = 0;
  for (const DocumentReport& d : r.documents) {
    n_computed += d.computed_tokens;
    n_restored += d.restored_tokens;
  }
  const char* noun = r.documents.size() == 1 ? "document" : "documents";
  if (n_restored > 0) {
    const std::string once = n_computed > 0 ? format_count(n_computed) + " once, " : "";
    return fmt::format(" ({} {}{} restored)", noun, once, format_count(n_restored));
  }
  if (n_computed == 0) return fmt::format(" ({} not computed)", noun);
  if (r.handoff == "recompute") {
    return fmt::format(" ({} {}, each agent by itself)", noun, format_count(n_computed));
  }
  return fmt::format(" ({} {} once)", noun, format_count(n_computed));
}

std::string prompt_line(const RunReport& r) {
  std::string out =
      fmt::format("prompt tokens   {} asked   {} computed{}   {} reused",
                  format_count(r.prompt_tokens), format_count(r.prompt_tokens_computed),
                  documents_part(r), format_count(r.prompt_tokens_reused));
  if (r.prompt_tokens > 0) {
    out += fmt::format(" ({} %)", format_fixed(100.0 * static_cast<double>(r.prompt_tokens_reused) /
                                                   static_cast<double>(r.prompt_tokens),
                                               1));
  }
  return out + "\n";
}

std::string throughput_line(const RunReport& r) {
  if (r.duration_ms <= 0 && r.ctx_size <= 0) return "";
  std::string out = "throughput      ";
  if (r.duration_ms > 0) {
    const double per_s = 1000.0 * static_cast<double>(r.completion_tokens) / r.duration_ms;
    out += format_fixed(per_s, 1) + " output tok/s   ";
  }
  const EngineCounters& c = r.counters;
  if (c.n_decode_steps > 0) {
    const double mean =
        static_cast<double>(c.n_decode_rows) / static_cast<double>(c.n_decode_steps);
    out += "mean batch " + format_fixed(mean, 1) + "   ";
  }
  if (r.ctx_size > 0) {
    out +=
        fmt::format("KV {} of {} cells", format_count(r.peak_kv_cells), format_count(r.ctx_size));
  }
  return out + "\n";
}

std::string time_line(const EngineCounters& c) {
  const double other = c.other_s + c.fork_s;
  const double total = c.forward_s + c.sample_s + other + c.idle_s;
  if (total <= 0) return "";
  const auto part = [total](double s) { return format_fixed(100 * s / total, 1) + " %"; };
  std::string out = fmt::format("time            forward {} \u00b7 sampling {} \u00b7 other {}",
                                part(c.forward_s), part(c.sample_s), part(other));
  // Waiting for function nodes and for clients is not work of the engine; shown only if there was
  // some.
  if (100 * c.idle_s / total >= 0.05) out += " \u00b7 idle " + part(c.idle_s);
  return out + "\n";
}

std::string path_element(const RunReport& r, std::size_t i) {
  constexpr std::string_view kDocument = "document:";
  std::string name = r.critical_path[i];
  if (name.starts_with(kDocument)) {
    name = r.documents.size() <= 1 ? "document" : name.substr(kDocument.size());
  }
  name = escape_control(name);
  return i < r.critical_path_ms.size() ? name + " " + seconds(r.critical_path_ms[i], 2) : name;
}

std::string critical_path_line(const RunReport& r) {
  if (r.critical_path.empty()) return "";
  std::string out = "critical path   ";
  double total = 0;
  for (const double ms : r.critical_path_ms) total += ms;
  const std::size_t n = r.critical_path.size();
  for (std::size_t i = 0; i < n; ++i) {
    // Of a long chain, its beginning and its end.
    if (n > kMostPathElements && i == kMostPathElements / 2) {
      out += "... > ";
      i = n - kMostPathElements / 2;
    }
    out += path_element(r, i) + (i + 1 < n ? " > " : "");
  }
  if (!r.critical_path_ms.empty()) out += " = " + seconds(total, 2) + " s";
  return out + "\n";
}

}  // namespace

std::string Paint::operator()(const char* color, std::string_view text) const {
  if (!on_ || *color == '\0') return std::string(text);
  return fmt::format("{}{}\x1b[0m", color, text);
}

std::string labelled_line(const Paint& paint, const char* color, const char* label,
                          std::string text) {
  text = escape_control(text);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += kLabelColumns) {
    text.insert(++at, kLabelColumns, ' ');
  }
  return paint(color, label) + std::string(kLabelColumns - std::string_view(label).size(), ' ') +
         text + "\n";
}

std::string title_line(const RunReport& r, const Paint& paint) {
  const std::string command = fit_for_terminal(command_text(r), kTitleColumns);
  std::string out = paint(Paint::kBold, command);
  const std::size_t width = display_width(command);
  out.append(width < kTitleColumns ? kTitleColumns - width : 0, ' ');
  out += fmt::format("  {} \u00b7 {} s", counts(r), seconds(r.duration_ms, 1));
  if (r.load_ms >= 50) out += fmt::format("  (+ {} s model load)", seconds(r.load_ms, 1));
  return out + "\n";
}

std::string summary_lines(const RunReport& r) {
  return prompt_line(r) + throughput_line(r) + time_line(r.counters) + critical_path_line(r);
}

}  // namespace swarmkv::internal
