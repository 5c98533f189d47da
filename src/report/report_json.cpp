// report.json, schema swarmkv.report/1. Every key is always there and in this order;
// docs/metrics.md explains each. A new key may be added at the end of an object; a change of
// meaning needs schema 2.
#include "report/report_json.h"

#include <algorithm>
#include <optional>

#include "base/build_info.h"
#include "report/agent_json.h"

namespace swarmkv {
namespace {

using internal::agent_json;
using internal::Json;
using internal::json_number;
using internal::json_positive;
using internal::json_seconds;
using internal::json_text;
using internal::json_text_or_null;
using internal::json_texts;
using internal::percentiles_json;

template <typename Snapshot>
Json snapshot_fields(const Snapshot& s) {
  return Json{{"state", json_text(s.state)},
              {"path", json_text_or_null(s.path)},
              {"size_bytes", json_positive(s.size_bytes)},
              {"n_tokens", json_positive(static_cast<std::uint64_t>(std::max(0, s.n_tokens)))},
              {"ms", s.ms > 0 ? json_number(s.ms) : Json(nullptr)},
              {"reason", json_text_or_null(s.reason)}};
}

Json snapshot_json(const std::optional<SnapshotReport>& s) {
  if (!s) return nullptr;
  Json out = snapshot_fields(*s);
  Json files = Json::array();
  for (const SnapshotFileReport& file : s->files) {
    Json about = snapshot_fields(file);
    about["documents"] = json_texts(file.documents);
    files.push_back(std::move(about));
  }
  out["files"] = std::move(files);
  return out;
}

Json reading_json(const DocumentReading& r) {
  return Json{{"after", json_text_or_null(r.after)},
              {"reader", json_text_or_null(r.reader)},
              {"n_tokens", r.n_tokens},
              {"source", json_text(r.source)},
              {"computed_tokens", r.computed_tokens},
              {"restored_tokens", r.restored_tokens},
              {"prefill_ms", json_number(r.prefill_ms)},
              {"prefill_tokens_per_s", json_number(r.prefill_tokens_per_s)},
              {"ready_ms", json_number(r.ready_ms)},
              {"snapshot", snapshot_json(r.snapshot)}};
}

Json document_json(const DocumentReport& d) {
  Json readings = Json::array();
  for (const DocumentReading& reading : d.readings) readings.push_back(reading_json(reading));
  return Json{{"name", json_text(d.name)},
              {"digest", json_text_or_null(d.digest)},
              {"n_tokens", d.n_tokens == 0 ? Json(nullptr) : Json(d.n_tokens)},
              {"source", json_text(d.source)},
              {"computed_tokens", d.computed_tokens},
              {"prefill_ms", json_number(d.prefill_ms)},
              {"prefill_tokens_per_s", json_number(d.prefill_tokens_per_s)},
              {"snapshot", snapshot_json(d.snapshot)},
              {"ready_ms", json_number(d.ready_ms)},
              {"restored_tokens", d.restored_tokens},
              {"readings", std::move(readings)}};
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
  return Json{{"forward", json_seconds(c.forward_s)}, {"sample", json_seconds(c.sample_s)},
              {"fork", json_seconds(c.fork_s)},       {"other", json_seconds(c.other_s)},
              {"idle", json_seconds(c.idle_s)},       {"mask", json_seconds(c.mask_s)}};
}

Json numbers_json(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values) out.push_back(json_number(value));
  return out;
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
              {"engine_time_s", engine_time_json(c)},
              {"graphs_reused", c.n_graphs_reused},
              {"critical_path_ms", numbers_json(r.critical_path_ms)},
              {"decode_steps", c.n_decode_steps},
              {"decode_rows", c.n_decode_rows}};
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

Json internal::report_json(const RunReport& r) {
  const internal::BuildInfo& build = internal::build_info();
  return Json{
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
      {"attention", json_text(r.attention)},
      {"attention_note", json_text_or_null(r.attention_note)},
      {"documents", array_of(r.documents, document_json)},
      {"agents", array_of(r.agents, agent_json)},
      {"summary", summary_json(r)},
      {"warnings", array_of(r.warnings, warning_json)}};
}

std::string to_json(const RunReport& report) {
  return internal::json_dump(internal::report_json(report), 2);
}

}  // namespace swarmkv
