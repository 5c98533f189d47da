// Samples of a benchmark as JSON, schema swarmkv.bench/1: every line stands for itself.
#include <optional>

#include "report/json_values.h"
#include "swarmkv/bench.h"
#include "swarmkv/error.h"

namespace swarmkv {
namespace {

using internal::Json;
using internal::json_number;
using internal::json_positive;
using internal::json_text;
using internal::json_text_or_null;

constexpr const char* kSchema = "swarmkv.bench/1";

Json agent_json(const BenchAgent& a) {
  return Json{{"prompt_tokens", a.prompt_tokens},
              {"suffix_tokens", a.suffix_tokens},
              {"cached_tokens", a.cached_tokens},
              {"computed_tokens", a.computed_tokens},
              {"completion_tokens", a.completion_tokens},
              {"enqueued_ms", json_number(a.enqueued_ms)},
              {"admitted_ms", json_number(a.admitted_ms)},
              {"prefix_ready_ms", json_number(a.prefix_ready_ms)},
              {"handed_over_ms", json_number(a.handed_over_ms)},
              {"first_token_ms", json_number(a.first_token_ms)},
              {"finished_ms", json_number(a.finished_ms)},
              {"token_ids_digest", json_text(a.token_ids_digest)}};
}

Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values) out.push_back(json_number(value));
  return out;
}

Json setup_json(const BenchSetup& s) {
  return Json{{"swarmkv", json_text(s.swarmkv_version)},
              {"llama_cpp", json_text(s.llama_commit)},
              {"compiler", json_text(s.compiler)},
              {"machine", json_text(s.machine)},
              {"os", json_text(s.os)},
              {"device", json_text(s.device)},
              {"cores", s.n_cores},
              {"model_path", json_text(s.model_path)},
              {"model", json_text(s.model_name)},
              {"model_fingerprint", json_text(s.model_fingerprint)},
              {"quant", json_text(s.quant)},
              {"seed", s.seed},
              {"document", json_text(s.document)},
              {"document_digest", json_text(s.document_digest)},
              {"prompts_digest", json_text(s.prompts_digest)},
              {"threads", s.threads},
              {"threads_batch", s.threads_batch},
              {"batch_size", s.batch_size},
              {"ctx_size", s.ctx_size},
              {"parallel", s.parallel},
              {"cache_type_k", json_text(s.cache_type_k)},
              {"cache_type_v", json_text(s.cache_type_v)},
              {"flash_attn", json_text(s.flash_attn)},
              {"attention", json_text(s.attention)},
              {"attention_target", json_text_or_null(s.attention_target)},
              {"deterministic", s.deterministic},
              {"ignore_eos", s.ignore_eos},
              {"n_gpu_layers", s.n_gpu_layers},
              {"temperature", json_number(s.temperature)},
              {"top_k", s.top_k},
              {"top_p", json_number(s.top_p)},
              {"min_p", json_number(s.min_p)},
              {"repeat_penalty", json_number(s.repeat_penalty)},
              {"repeat_last_n", s.repeat_last_n}};
}

Json trial_json(const BenchTrial& t) {
  Json agents = Json::array();
  for (const BenchAgent& agent : t.agents) agents.push_back(agent_json(agent));
  return Json{{"schema", kSchema},
              {"arm", json_text(t.arm)},
              {"document_tokens", t.n_document},
              {"agents", t.n_agents},
              {"output_tokens", t.n_output},
              {"trial", t.trial},
              {"position", t.position},
              {"status", json_text(t.status)},
              {"error", json_text_or_null(t.error)},
              {"wall_ms", json_number(t.wall_ms)},
              {"setup_ms", json_number(t.setup_ms)},
              {"forward_ms", json_number(t.forward_ms)},
              {"sample_ms", json_number(t.sample_ms)},
              {"handoff_total_ms", json_number(t.handoff_ms)},
              {"document_ms", numbers(t.document_ms())},
              {"branch_ms", numbers(t.branch_ms())},
              {"proxy_ms", numbers(t.proxy_ms())},
              {"decode_tokens_per_s", json_number(t.decode_tokens_per_s)},
              {"prompt_tokens", t.prompt_tokens},
              {"prompt_tokens_computed", t.prompt_tokens_computed},
              {"prompt_tokens_reused", t.prompt_tokens_reused},
              {"prompt_tokens_expected", t.prompt_tokens_expected},
              {"completion_tokens", t.completion_tokens},
              {"cache_was_empty", t.cache_was_empty},
              {"forwards", t.n_forwards},
              {"handoffs", t.n_handoffs},
              {"peak_kv_cells", t.peak_kv_cells},
              {"peak_kv_bytes", json_positive(t.peak_kv_bytes)},
              {"peak_rss_bytes", json_positive(t.peak_rss_bytes)},
              {"token_ids_digest", json_text(t.token_ids_digest)},
              {"agents_detail", std::move(agents)}};
}

// Readers: absent or null keeps the default; another type is no sample.
template <typename T>
void get(const Json& json, const char* key, T& out) {
  if (json.contains(key) && !json[key].is_null()) json[key].get_to(out);
}
void get(const Json& json, const char* key, std::optional<double>& out) {
  if (json.contains(key) && !json[key].is_null()) out = json[key].get<double>();
}

BenchAgent agent_from(const Json& json) {
  BenchAgent a;
  get(json, "prompt_tokens", a.prompt_tokens);
  get(json, "suffix_tokens", a.suffix_tokens);
  get(json, "cached_tokens", a.cached_tokens);
  get(json, "computed_tokens", a.computed_tokens);
  get(json, "completion_tokens", a.completion_tokens);
  get(json, "enqueued_ms", a.enqueued_ms);
  get(json, "admitted_ms", a.admitted_ms);
  get(json, "prefix_ready_ms", a.prefix_ready_ms);
  get(json, "handed_over_ms", a.handed_over_ms);
  get(json, "first_token_ms", a.first_token_ms);
  get(json, "finished_ms", a.finished_ms);
  get(json, "token_ids_digest", a.token_ids_digest);
  return a;
}

BenchTrial trial_from(const Json& json) {
  BenchTrial t;
  json.at("arm").get_to(t.arm);
  json.at("document_tokens").get_to(t.n_document);
  json.at("agents").get_to(t.n_agents);
  json.at("output_tokens").get_to(t.n_output);
  json.at("trial").get_to(t.trial);
  json.at("status").get_to(t.status);
  get(json, "position", t.position);
  get(json, "error", t.error);
  get(json, "wall_ms", t.wall_ms);
  get(json, "setup_ms", t.setup_ms);
  get(json, "forward_ms", t.forward_ms);
  get(json, "sample_ms", t.sample_ms);
  get(json, "handoff_total_ms", t.handoff_ms);
  get(json, "decode_tokens_per_s", t.decode_tokens_per_s);
  get(json, "prompt_tokens", t.prompt_tokens);
  get(json, "prompt_tokens_computed", t.prompt_tokens_computed);
  get(json, "prompt_tokens_reused", t.prompt_tokens_reused);
  get(json, "prompt_tokens_expected", t.prompt_tokens_expected);
  get(json, "completion_tokens", t.completion_tokens);
  get(json, "cache_was_empty", t.cache_was_empty);
  get(json, "forwards", t.n_forwards);
  get(json, "handoffs", t.n_handoffs);
  get(json, "peak_kv_cells", t.peak_kv_cells);
  get(json, "peak_kv_bytes", t.peak_kv_bytes);
  get(json, "peak_rss_bytes", t.peak_rss_bytes);
  get(json, "token_ids_digest", t.token_ids_digest);
  for (const Json& agent : json.at("agents_detail")) t.agents.push_back(agent_from(agent));
  return t;
}

// Samples of another machine, model or setting would make a median of two different things.
void require_same_setup(const Json& line, const BenchSetup& setup, int number) {
  const Json ours = setup_json(setup);
  const Json& theirs = line.at("setup");
  for (const auto& [key, value] : ours.items()) {
    if (key == "model_path" || key == "document") continue;  // what they hold is compared
    const Json other = theirs.contains(key) ? theirs[key] : Json(nullptr);
    if (other == value) continue;
    throw Error(ErrorCode::kMismatch, "[bench.resume] line " + std::to_string(number) +
                                          " is of another campaign: " + key + " is " +
                                          other.dump() + " there and " + value.dump() + " here");
  }
}

Json figure_json(const std::optional<BenchFigure>& figure) {
  if (!figure) return nullptr;
  return Json{{"median", json_number(figure->median)},
              {"min", json_number(figure->min)},
              {"max", json_number(figure->max)},
              {"n", figure->n}};
}

Json row_json(const BenchRow& r) {
  return Json{{"document_tokens", r.n_document},
              {"agents", r.n_agents},
              {"output_tokens", r.n_output},
              {"arm", json_text(r.arm)},
              {"trials", r.n_trials},
              {"failed", r.n_failed},
              {"error", json_text_or_null(r.error)},
              {"wall_ms", figure_json(r.wall_ms)},
              {"speedup", json_number(r.speedup)},
              {"first_token_ms", figure_json(r.first_token_ms)},
              {"document_ms", figure_json(r.document_ms)},
              {"handoff_ms", figure_json(r.handoff_ms)},
              {"forward_ms", figure_json(r.forward_ms)},
              {"other_ms", figure_json(r.other_ms)},
              {"decode_tokens_per_s", figure_json(r.decode_tokens_per_s)},
              {"prompt_tokens", r.prompt_tokens},
              {"prompt_tokens_computed", r.prompt_tokens_computed},
              {"prompt_tokens_reused", r.prompt_tokens_reused},
              {"peak_kv_bytes", json_positive(r.peak_kv_bytes)},
              {"peak_rss_bytes", json_positive(r.peak_rss_bytes)}};
}

}  // namespace

std::string to_json_line(const BenchTrial& trial, const BenchSetup& setup) {
  Json json = trial_json(trial);
  json["setup"] = setup_json(setup);
  return internal::json_dump(json, -1);
}

std::vector<BenchTrial> parse_bench_lines(std::string_view text, const BenchSetup& setup) {
  std::vector<BenchTrial> out;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // cut off while it was written
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.empty()) continue;
    const auto corrupt = [&](const std::string& why) {
      return Error(ErrorCode::kCorrupt,
                   "[bench.resume] line " + std::to_string(number) + " is no sample: " + why);
    };
    Json json;
    try {
      json = Json::parse(line);
    } catch (const nlohmann::json::exception&) {
      throw corrupt("not JSON");
    }
    if (!json.is_object() || json.value("schema", Json()) != kSchema) {
      throw corrupt(std::string("its schema is not ") + kSchema);
    }
    try {
      require_same_setup(json, setup, number);
      out.push_back(trial_from(json));
    } catch (const nlohmann::json::exception& e) {
      throw corrupt(e.what());
    }
  }
  return out;
}

std::string to_json(const std::vector<BenchRow>& rows, const std::vector<BenchTrial>& trials,
                    const BenchSetup& setup) {
  Json json{{"schema", kSchema}, {"setup", setup_json(setup)}};
  json["rows"] = Json::array();
  for (const BenchRow& row : rows) json["rows"].push_back(row_json(row));
  json["trials"] = Json::array();
  for (const BenchTrial& trial : trials) json["trials"].push_back(trial_json(trial));
  return internal::json_dump(json, 2);
}

}  // namespace swarmkv
