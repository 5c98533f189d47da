#include "report/agent_row.h"

#include "text/table.h"

namespace swarmkv::internal {
namespace {

std::string count_cell(const std::optional<int>& n) { return n ? format_count(*n) : "-"; }

std::string seconds_cell(const std::optional<double>& ms) {
  return ms ? format_fixed(*ms / 1000, 2) : "-";
}

std::string fixed_cell(const std::optional<double>& value) {
  return value ? format_fixed(*value, 1) : "-";
}

}  // namespace

std::string agent_end(const AgentReport& a) {
  if (a.status != AgentStatus::kFinished) return to_string(a.status);
  if (a.truncated) return std::string(to_string(a.finish_reason)) + " !";
  return a.finish_reason == FinishReason::kNone ? "done" : to_string(a.finish_reason);
}

std::optional<int> new_prompt_tokens(const AgentReport& a) {
  if (!a.prompt_tokens || !a.cached_tokens) return std::nullopt;
  return *a.prompt_tokens - *a.cached_tokens;
}

std::vector<std::string> agent_columns() {
  return {"agent",  "end",     "new prompt", "cached", "output", "TTFT s",
          "warm s", "TPOT ms", "ITL p95",    "E2E s",  "tok/s"};
}

std::vector<std::string> agent_row(const AgentReport& a) {
  return {a.name,
          agent_end(a),
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

}  // namespace swarmkv::internal
