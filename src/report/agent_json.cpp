#include "report/agent_json.h"

#include <optional>

namespace swarmkv::internal {
namespace {

Json error_json(const AgentReport& a) {
  if (!a.error && !a.error_code) return nullptr;
  return Json{{"code", json_text_or_null(a.error_code)}, {"message", json_text_or_null(a.error)}};
}

Json usage_json(const AgentReport& a) {
  std::optional<int> total;
  if (a.prompt_tokens && a.completion_tokens) total = *a.prompt_tokens + *a.completion_tokens;
  return Json{{"prompt_tokens", json_count(a.prompt_tokens)},
              {"cached_tokens", json_count(a.cached_tokens)},
              {"completion_tokens", json_count(a.completion_tokens)},
              {"total_tokens", json_count(total)}};
}

Json metrics_json(const AgentReport& a) {
  return Json{{"ttft_ms", json_number(a.ttft_ms)},
              {"ttft_warm_ms", json_number(a.ttft_warm_ms)},
              {"tpot_ms", json_number(a.tpot_ms)},
              {"itl_ms", percentiles_json(a.itl_ms)},
              {"e2e_ms", json_number(a.e2e_ms)},
              {"document_wait_ms", json_number(a.document_wait_ms)},
              {"queue_ms", json_number(a.queue_ms)},
              {"prefill_ms", json_number(a.prefill_ms)},
              {"output_tokens_per_s", json_number(a.output_tokens_per_s)}};
}

Json timeline_json(const AgentReport& a) {
  return Json{{"enqueued_ms", json_number(a.enqueued_ms)},
              {"prefix_ready_ms", json_number(a.prefix_ready_ms)},
              {"admitted_ms", json_number(a.admitted_ms)},
              {"first_token_ms", json_number(a.first_token_ms)},
              {"finished_ms", json_number(a.finished_ms)}};
}

// A function node samples nothing: its zeros would be invented numbers.
Json sampling_json(const AgentReport& a) {
  if (a.kind != "llm") return nullptr;
  return Json{{"temperature", json_number(a.temperature)},
              {"seed", a.seed},
              {"max_tokens", a.max_tokens},
              {"stop", json_texts(a.stop)}};
}

// Of an answer that nests deeper nothing is shown: writing it would take a stack frame a level.
constexpr int kDeepestAnswer = 200;

bool is_too_deep(std::string_view json) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestAnswer) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

Json answer_json(const AgentReport& a) {
  if (!a.json || is_too_deep(*a.json)) return nullptr;
  Json value = Json::parse(*a.json, nullptr, false);
  return value.is_discarded() ? Json(nullptr) : value;
}

Json finish_reason_json(FinishReason reason) {
  return reason == FinishReason::kNone ? Json(nullptr) : Json(to_string(reason));
}

}  // namespace

Json agent_json(const AgentReport& a) {
  return Json{{"name", json_text(a.name)},
              {"kind", json_text(a.kind)},
              {"status", to_string(a.status)},
              {"finish_reason", finish_reason_json(a.finish_reason)},
              {"truncated", a.truncated},
              {"error", error_json(a)},
              {"skip_reason", json_text_or_null(a.skip_reason)},
              {"needs", json_texts(a.needs)},
              {"continues", json_text_or_null(a.continues)},
              {"reads", json_texts(a.reads)},
              {"ready_after", json_count(a.ready_after)},
              {"text", json_text(a.text)},
              {"reasoning", json_text_or_null(a.reasoning)},
              {"json", answer_json(a)},
              {"output_file", json_text_or_null(a.output_file)},
              {"preemptions", a.n_preemptions},
              {"usage", usage_json(a)},
              {"metrics", metrics_json(a)},
              {"timeline", timeline_json(a)},
              {"sampling", sampling_json(a)},
              {"token_ids_digest", json_text_or_null(a.token_ids_digest)},
              {"fork_fell_back", a.fork_fell_back}};
}

}  // namespace swarmkv::internal
