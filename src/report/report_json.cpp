// report.json, schema swarmkv.report/1. Every key is always there and in this order;
// docs/metrics.md explains each. A new key may be added at the end of an object; a change of
// meaning needs schema 2.
#include <optional>

#include "base/build_info.h"
#include "report/json_values.h"
#include "swarmkv/report.h"

namespace swarmkv {
namespace {

using internal::Json;
using internal::json_count;
using internal::json_number;
using internal::json_positive;
using internal::json_text;
using internal::json_text_or_null;
using internal::json_texts;

Json percentiles_json(const Percentiles& p) {
  return Json{{"p50", json_number(p.p50)},
              {"p95", json_number(p.p95)},
              {"p99", json_number(p.p99)},
              {"max", json_number(p.max)}};
}

Json document_json(const DocumentReport& d) {
  return Json{{"name", json_text(d.name)},
              {"digest", json_text_or_null(d.digest)},
              {"n_tokens", d.n_tokens},
              {"source", json_text(d.source)},
              {"computed_tokens", d.computed_tokens},
              {"prefill_ms", json_number(d.prefill_ms)},
              {"prefill_tokens_per_s", json_number(d.prefill_tokens_per_s)},
              {"snapshot", nullptr}};
}

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

Json finish_reason_json(FinishReason reason) {
  return reason == FinishReason::kNone ? Json(nullptr) : Json(to_string(reason));
}

Json agent_json(const AgentReport& a) {
  return Json{{"name", json_text(a.name)},
              {"kind", json_text(a.kind)},
              {"status", to_string(a.status)},
              {"finish_reason", finish_reason_json(a.finish_reason)},
              {"truncated", a.truncated},
              {"error", error_json(a)},
              {"skip_reason", json_text_or_null(a.skip_reason)},
              {"needs", json_texts(a.needs)},
              {"continues", nullptr},
              {"reads", json_texts(a.reads)},
              {"ready_after", nullptr},
              {"text", json_text(a.text)},
              {"reasoning", nullptr},
              {"json", nullptr},
              {"output_file", nullptr},
              {"preemptions", a.n_preemptions},
              {"usage", usage_json(a)},
              {"metrics", metrics_json(a)},
              {"timeline", timeline_json(a)},
              {"sampling", sampling_json(a)},
              {"token_ids_digest", json_text_or_null(a.token_ids_digest)},
              {"fork_fell_back", a.fork_fell_back}};
}

std::optional<double> ratio(double above, double below) {
  if (below <= 0) return std::nullopt;
  return above / below;
}

std::optional<double> jitter(const Percentiles& itl) {
  if (!itl.p99 || !itl.p50) return std::nullopt;
  return ratio(*itl.p99, *itl.p50);
}

Json engine_time_json(const EngineCounters& c) {
  return Json{{"forward", json_number(c.forward_s)},
              {"sample", json_number(c.sample_s)},
              {"fork", json_number(c.fork_s)},
              {"other", json_number(c.other_s)},
              {"idle", json_number(c.idle_s)}};
}

Json counts_json(const RunReport& r) {
  return Json{{"finished", r.n_finished},
              {"failed", r.n_failed},
              {"skipped", r.n_skipped},
              {"cancelled", r.n_cancelled},
              {"truncated", r.n_truncated}};
}

Json peak_json(const RunReport& r) {
  return Json{{"kv_cells", r.peak_kv_cells},
              {"rss_bytes", json_positive(r.peak_rss_bytes)},
              {"threads", json_positive(static_cast<std::uint64_t>(r.peak_threads))}};
}

Json summary_json(const RunReport& r) {
  const EngineCounters& c = r.counters;
  return Json{{"duration_ms", json_number(r.duration_ms)},
              {"counts", counts_json(r)},
              {"prompt_tokens", r.prompt_tokens},
              {"prompt_tokens_computed", r.prompt_tokens_computed},
              {"prompt_tokens_reused", r.prompt_tokens_reused},
              {"reuse_ratio", json_number(ratio(static_cast<double>(r.prompt_tokens_reused),
                                                static_cast<double>(r.prompt_tokens)))},
              {"completion_tokens", r.completion_tokens},
              {"output_throughput_tok_s",
               json_number(ratio(static_cast<double>(r.completion_tokens) * 1000, r.duration_ms))},
              {"ttft_ms", percentiles_json(r.ttft_ms)},
              {"tpot_ms", percentiles_json(r.tpot_ms)},
              {"itl_ms", percentiles_json(r.itl_ms)},
              {"e2e_ms", percentiles_json(r.e2e_ms)},
              {"jitter", json_number(jitter(r.itl_ms))},
              {"fairness", nullptr},
              {"forward_steps", c.n_forwards},
              {"mean_decode_batch", json_number(ratio(static_cast<double>(c.n_decode_rows),
                                                      static_cast<double>(c.n_decode_steps)))},
              {"critical_path", json_texts(r.critical_path)},
              {"peak", peak_json(r)},
              {"engine_time_s", engine_time_json(c)}};
}

Json warning_json(const Warning& w) {
  return Json{{"code", json_text(w.code)},
              {"agent", json_text_or_null(w.agent)},
              {"pos", json_text_or_null(w.pos)},
              {"message", json_text(w.message)},
              {"hint", json_text_or_null(w.hint)}};
}

Json model_json(const RunReport& r) {
  return Json{{"path", json_text_or_null(r.model_path)},
              {"fingerprint", json_text_or_null(r.model_fingerprint)},
              {"n_params", json_positive(r.n_params)},
              {"quant", json_text_or_null(r.quant)},
              {"load_ms", json_number(r.load_ms)}};
}

template <typename Items, typename ToJson>
Json array_of(const Items& items, ToJson to_json_value) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(to_json_value(item));
  return out;
}

}  // namespace

std::string to_json(const RunReport& r) {
  const internal::BuildInfo& build = internal::build_info();
  const Json json{
      {"schema", "swarmkv.report/1"},
      {"run_id", json_text_or_null(r.run_id)},
      {"name", json_text(r.name)},
      {"status", json_text(r.status)},
      {"exit_code", r.exit_code},
      {"started_at", json_text_or_null(r.started_at)},
      {"versions", {{"swarmkv", build.version}, {"llama_cpp", build.llama_commit}}},
      {"command", json_texts(r.command)},
      {"model", model_json(r)},
      {"device", json_text_or_null(r.device)},
      {"ctx_size", json_positive(static_cast<std::uint64_t>(r.ctx_size < 0 ? 0 : r.ctx_size))},
      {"cache_type_k", json_text_or_null(r.cache_type_k)},
      {"cache_type_v", json_text_or_null(r.cache_type_v)},
      {"handoff", json_text(r.handoff)},
      {"documents", array_of(r.documents, document_json)},
      {"agents", array_of(r.agents, agent_json)},
      {"summary", summary_json(r)},
      {"warnings", array_of(r.warnings, warning_json)}};
  return internal::json_dump(json, 2);
}

}  // namespace swarmkv
