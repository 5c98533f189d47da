// report.json, read back (schema swarmkv.report/1). The file may be of another version of the
// program, or of nobody's: keys that are not there leave what they would tell unknown.
#include <cmath>
#include <string_view>

#include "report/json_reading.h"
#include "swarmkv/error.h"

namespace swarmkv {
namespace internal {
namespace {

// Deeper than anything we write; a foreign file must not take a stack frame a level.
constexpr int kDeepest = 300;

template <typename Snapshot>
void read_snapshot_fields(const Json& json, Snapshot& out) {
  out.state = text_of(json, "state");
  out.path = text_of(json, "path");
  out.size_bytes = size_of(json, "size_bytes");
  out.n_tokens = count_of(json, "n_tokens");
  out.ms = number_of(json, "ms");
  out.reason = text_if(json, "reason");
}

std::optional<SnapshotReport> read_snapshot(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  SnapshotReport out;
  read_snapshot_fields(json, out);
  for (const Json& each : member(json, "files")) {
    SnapshotFileReport& file = out.files.emplace_back();
    read_snapshot_fields(each, file);
    file.documents = texts_of(each, "documents");
  }
  return out;
}

template <typename Document>
void read_document_fields(const Json& json, Document& out) {
  out.n_tokens = count_of(json, "n_tokens");
  out.source = text_of(json, "source");
  out.computed_tokens = count_of(json, "computed_tokens");
  out.restored_tokens = count_of(json, "restored_tokens");
  out.prefill_ms = number_if(json, "prefill_ms");
  out.prefill_tokens_per_s = number_if(json, "prefill_tokens_per_s");
  out.ready_ms = number_if(json, "ready_ms");
  out.snapshot = read_snapshot(member(json, "snapshot"));
}

DocumentReport read_document(const Json& json) {
  DocumentReport out;
  out.name = text_of(json, "name");
  out.digest = text_of(json, "digest");
  read_document_fields(json, out);
  for (const Json& each : member(json, "readings")) {
    DocumentReading& reading = out.readings.emplace_back();
    reading.after = text_of(each, "after");
    reading.reader = text_of(each, "reader");
    read_document_fields(each, reading);
  }
  return out;
}

void read_counters(const Json& summary, EngineCounters& c) {
  const Json& time = member(summary, "engine_time_s");
  c.forward_s = number_of(time, "forward");
  c.sample_s = number_of(time, "sample");
  c.fork_s = number_of(time, "fork");
  c.other_s = number_of(time, "other");
  c.idle_s = number_of(time, "idle");
  c.mask_s = number_of(time, "mask");
  c.n_forwards = size_of(summary, "forward_steps");
  c.n_graphs_reused = size_of(summary, "graphs_reused");
  c.n_decode_steps = size_of(summary, "decode_steps");
  c.n_decode_rows = size_of(summary, "decode_rows");
  // Reports of older versions have the mean alone: enough for what is told of it.
  const double mean = number_of(summary, "mean_decode_batch");
  constexpr double kMostAgents = 1e6;
  if (c.n_decode_steps == 0 && mean > 0 && mean < kMostAgents) {
    c.n_decode_steps = 1000;
    c.n_decode_rows = static_cast<std::uint64_t>(std::llround(mean * 1000));
  }
}

void read_summary(const Json& s, RunReport& r) {
  r.duration_ms = number_of(s, "duration_ms");
  const Json& counts = member(s, "counts");
  r.n_finished = count_of(counts, "finished");
  r.n_failed = count_of(counts, "failed");
  r.n_skipped = count_of(counts, "skipped");
  r.n_cancelled = count_of(counts, "cancelled");
  r.n_truncated = count_of(counts, "truncated");
  r.prompt_tokens = integer_of(s, "prompt_tokens");
  r.prompt_tokens_computed = integer_of(s, "prompt_tokens_computed");
  r.prompt_tokens_reused = integer_of(s, "prompt_tokens_reused");
  r.completion_tokens = integer_of(s, "completion_tokens");
  r.ttft_ms = percentiles_of(s, "ttft_ms");
  r.tpot_ms = percentiles_of(s, "tpot_ms");
  r.itl_ms = percentiles_of(s, "itl_ms");
  r.e2e_ms = percentiles_of(s, "e2e_ms");
  read_counters(s, r.counters);
  r.critical_path = texts_of(s, "critical_path");
  for (const Json& ms : member(s, "critical_path_ms")) {
    r.critical_path_ms.push_back(ms.is_number() ? ms.get<double>() : 0);
  }
  const Json& peak = member(s, "peak");
  r.peak_kv_cells = count_of(peak, "kv_cells");
  r.peak_rss_bytes = size_of(peak, "rss_bytes");
  r.peak_threads = count_of(peak, "threads");
}

RunReport read_report(const Json& json) {
  RunReport r;
  r.run_id = text_of(json, "run_id");
  r.name = text_of(json, "name");
  r.status = text_of(json, "status");
  r.exit_code = count_of(json, "exit_code");
  r.started_at = text_of(json, "started_at");
  r.command = texts_of(json, "command");
  const Json& model = member(json, "model");
  r.model_path = text_of(model, "path");
  r.model_fingerprint = text_of(model, "fingerprint");
  r.n_params = size_of(model, "n_params");
  r.quant = text_of(model, "quant");
  r.load_ms = number_of(model, "load_ms");
  r.device = text_of(json, "device");
  r.ctx_size = count_of(json, "ctx_size");
  r.cache_type_k = text_of(json, "cache_type_k");
  r.cache_type_v = text_of(json, "cache_type_v");
  r.handoff = text_if(json, "handoff").value_or(r.handoff);
  r.attention = text_if(json, "attention").value_or(r.attention);
  r.attention_note = text_of(json, "attention_note");
  for (const Json& each : member(json, "documents")) r.documents.push_back(read_document(each));
  for (const Json& each : member(json, "agents")) r.agents.push_back(read_agent(each));
  read_summary(member(json, "summary"), r);
  for (const Json& w : member(json, "warnings")) {
    r.warnings.push_back({text_of(w, "code"), text_of(w, "agent"), text_of(w, "pos"),
                          text_of(w, "message"), text_of(w, "hint")});
  }
  return r;
}

}  // namespace
}  // namespace internal

RunReport parse_report(std::string_view text) {
  using internal::Json;
  bool too_deep = false;
  const auto watch_depth = [&too_deep](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > internal::kDeepest;
    return depth <= internal::kDeepest;
  };
  const Json json = Json::parse(text, watch_depth, false);
  // Behind a NUL the parser reads nothing.
  if (json.is_discarded() || too_deep || text.find('\0') != std::string_view::npos) {
    throw Error(ErrorCode::kCorrupt, "[report.read] this is not JSON, or cut short");
  }
  const std::string schema = internal::text_of(json, "schema");
  if (schema != "swarmkv.report/1") {
    throw Error(ErrorCode::kUnsupported,
                schema.empty() ? "[report.read] this is JSON without a schema, not a report"
                               : "[report.read] the schema is '" + schema +
                                     "', but a report's is 'swarmkv.report/1'");
  }
  return internal::read_report(json);
}

}  // namespace swarmkv
