// A benchmark's rows as Markdown for people and as CSV for programs.
#include <fmt/format.h>

#include "swarmkv/bench.h"
#include "text/table.h"
#include "text/utf8.h"

namespace swarmkv {
namespace {

using internal::format_bytes;
using internal::format_count;
using internal::format_fixed;

// "12.34 (12.10 to 13.00)"
std::string with_spread(const std::optional<BenchFigure>& f, double divide_by, int decimals) {
  if (!f) return "-";
  const auto one = [&](double value) { return format_fixed(value / divide_by, decimals); };
  return one(f->median) + " (" + one(f->min) + " to " + one(f->max) + ")";
}

std::string median(const std::optional<BenchFigure>& f, double divide_by, int decimals) {
  return f ? format_fixed(f->median / divide_by, decimals) : "-";
}

// A cell must not end its row.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : internal::escape_control(text)) {
    if (c == '|') out += '\\';
    out += c == '\n' || c == '\t' ? ' ' : c;
  }
  return out;
}

std::string row_line(const BenchRow& r) {
  const std::string which =
      fmt::format("| {} | {} | {} | {} |", format_count(r.n_document), format_count(r.n_agents),
                  format_count(r.n_output), cell(r.arm));
  if (!r.wall_ms) {
    return which + " failed: " + cell(r.error) + " | | | | | | | | | | | |\n";
  }
  const std::string failed = r.n_failed > 0 ? fmt::format(" ({} failed)", r.n_failed) : "";
  return which +
         fmt::format(
             " {} | {} | {} | {} | {} | {} | {} | {} | {} / {} / {} | {} | {} | {}{} |\n",
             with_spread(r.wall_ms, 1000, 2), r.speedup ? format_fixed(*r.speedup, 2) + " x" : "-",
             with_spread(r.first_token_ms, 1000, 2), median(r.document_ms, 1000, 2),
             median(r.handoff_ms, 1, 1), median(r.forward_ms, 1000, 2), median(r.other_ms, 1000, 2),
             with_spread(r.decode_tokens_per_s, 1, 1), format_count(r.prompt_tokens),
             format_count(r.prompt_tokens_computed), format_count(r.prompt_tokens_reused),
             r.peak_kv_bytes > 0 ? format_bytes(r.peak_kv_bytes) : "-",
             r.peak_rss_bytes > 0 ? format_bytes(r.peak_rss_bytes) : "-",
             format_count(r.wall_ms->n), failed);
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c == '\n' || c == '\r' ? ' ' : c;  // one line a row
  }
  return out + "\"";
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : "";
}

std::string figure(const std::optional<BenchFigure>& f) {
  return f ? fmt::format("{:.3f},{:.3f},{:.3f}", f->median, f->min, f->max) : ",,";
}

}  // namespace

std::string to_markdown(const std::vector<BenchRow>& rows, const BenchSetup& s) {
  std::string out = fmt::format(
      "{}, {} cores, {}; model {} {}; document {}; llama.cpp {}; seed {}{}{}\n\n", cell(s.machine),
      s.n_cores, cell(s.device), cell(s.model_name), cell(s.quant), cell(s.document),
      cell(s.llama_commit), s.seed, s.deterministic ? "; deterministic" : "",
      s.ignore_eos ? "" : "; answers end by themselves");
  out +=
      "| document | agents | output | arm | wall s, median (min to max) | speedup | first token s "
      "| "
      "document s | hand-off ms | forward s | other s | decode tok/s | prompt tokens asked / "
      "computed / reused | KV | RSS | trials |\n"
      "|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const BenchRow& row : rows) out += row_line(row);
  return out;
}

std::string to_csv(const std::vector<BenchRow>& rows) {
  std::string out = "document_tokens,agents,output_tokens,arm,trials,failed,error";
  for (const char* name : {"wall_ms", "first_token_ms", "document_ms", "handoff_ms", "forward_ms",
                           "other_ms", "decode_tokens_per_s"}) {
    out += fmt::format(",{0}_median,{0}_min,{0}_max", name);
  }
  out +=
      ",speedup,prompt_tokens,prompt_tokens_computed,prompt_tokens_reused,peak_kv_bytes,"
      "peak_rss_bytes\n";
  for (const BenchRow& r : rows) {
    out += fmt::format("{},{},{},{},{},{},{}", r.n_document, r.n_agents, r.n_output, quoted(r.arm),
                       r.n_trials, r.n_failed, quoted(r.error));
    for (const auto* f : {&r.wall_ms, &r.first_token_ms, &r.document_ms, &r.handoff_ms,
                          &r.forward_ms, &r.other_ms, &r.decode_tokens_per_s}) {
      out += "," + figure(*f);
    }
    const auto known = [](std::uint64_t n) { return n > 0 ? std::to_string(n) : std::string(); };
    out += fmt::format(",{},{},{},{},{},{}\n", number(r.speedup), r.prompt_tokens,
                       r.prompt_tokens_computed, r.prompt_tokens_reused, known(r.peak_kv_bytes),
                       known(r.peak_rss_bytes));
  }
  return out;
}

}  // namespace swarmkv
