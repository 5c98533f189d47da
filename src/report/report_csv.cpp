// One line an agent, as RFC 4180 has it: CRLF, quotes around what needs them, doubled inside. What
// is not known is empty.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "report/agent_row.h"
#include "swarmkv/report.h"
#include "text/utf8.h"

namespace swarmkv {
namespace {

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

// Spreadsheets compute what begins so, and an answer is not trusted to be harmless. Neither is a
// name.
bool looks_like_formula(const std::string& text) {
  return !text.empty() && std::string_view("=+-@\t\r\n").find(text.front()) != std::string::npos;
}

class Line {
 public:
  explicit Line(CsvText text) : text_(text) {}

  void text(const std::string& value) {
    std::string cell = internal::sanitize_utf8(value);
    if (text_ == CsvText::kFormulaSafe && looks_like_formula(cell)) cell.insert(0, 1, '\'');
    add(cell);
  }
  void text(const std::optional<std::string>& value) { text(value.value_or("")); }
  void names(const std::vector<std::string>& values) {
    std::string out;
    for (const std::string& value : values) out += (out.empty() ? "" : " ") + value;
    text(out);
  }
  void count(const std::optional<int>& value) { add(value ? std::to_string(*value) : ""); }
  void number(const std::optional<double>& value) {
    if (!value || !std::isfinite(*value)) return add("");
    std::string digits = std::to_string(std::round(*value * 1000) / 1000);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    add(digits);
  }
  [[nodiscard]] std::string take() { return std::move(line_) + "\r\n"; }

 private:
  void add(const std::string& cell) {
    if (!first_) line_ += ',';
    first_ = false;
    line_ += quoted(cell);
  }

  const CsvText text_;
  std::string line_;
  bool first_ = true;
};

constexpr const char* kHeader =
    "agent,kind,status,finish_reason,truncated,error,skip_reason,needs,continues,reads,ready_after,"
    "prompt_tokens,cached_tokens,new_prompt_tokens,completion_tokens,preemptions,"
    "ttft_ms,ttft_warm_ms,tpot_ms,itl_p50_ms,itl_p95_ms,itl_p99_ms,itl_max_ms,e2e_ms,"
    "document_wait_ms,queue_ms,prefill_ms,output_tokens_per_s,"
    "enqueued_ms,prefix_ready_ms,admitted_ms,first_token_ms,finished_ms,"
    "temperature,seed,max_tokens,output_file,text,reasoning\r\n";

std::string line_of(const AgentReport& a, CsvText text) {
  Line line(text);
  line.text(a.name);
  line.text(a.kind);
  line.text(std::string(to_string(a.status)));
  line.text(a.finish_reason == FinishReason::kNone ? "" : std::string(to_string(a.finish_reason)));
  line.text(std::string(a.truncated ? "true" : "false"));
  line.text(a.error);
  line.text(a.skip_reason);
  line.names(a.needs);
  line.text(a.continues);
  line.names(a.reads);
  line.count(a.ready_after);
  line.count(a.prompt_tokens);
  line.count(a.cached_tokens);
  line.count(internal::new_prompt_tokens(a));
  line.count(a.completion_tokens);
  line.count(a.n_preemptions);
  for (const auto& ms :
       {a.ttft_ms, a.ttft_warm_ms, a.tpot_ms, a.itl_ms.p50, a.itl_ms.p95, a.itl_ms.p99,
        a.itl_ms.max, a.e2e_ms, a.document_wait_ms, a.queue_ms, a.prefill_ms, a.output_tokens_per_s,
        a.enqueued_ms, a.prefix_ready_ms, a.admitted_ms, a.first_token_ms, a.finished_ms}) {
    line.number(ms);
  }
  const bool sampled = a.kind == "llm";
  line.number(sampled ? std::optional(a.temperature) : std::nullopt);
  line.text(sampled ? std::to_string(a.seed) : "");
  line.count(sampled ? std::optional(a.max_tokens) : std::nullopt);
  line.text(a.output_file);
  line.text(a.text);
  line.text(a.reasoning);
  return line.take();
}

}  // namespace

std::string to_csv(const RunReport& report, CsvText text) {
  std::string out = kHeader;
  for (const AgentReport& agent : report.agents) out += line_of(agent, text);
  return out;
}

}  // namespace swarmkv
