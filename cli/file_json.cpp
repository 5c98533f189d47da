#include "cli/file_json.h"

#include <nlohmann/json.hpp>

namespace swarmkv::cli {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(std::uint64_t n) { return n == 0 ? Json(nullptr) : Json(n); }
Json count_or_null(int n) { return number_or_null(static_cast<std::uint64_t>(n < 0 ? 0 : n)); }
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// A name or a file's metadata need not be valid UTF-8.
std::string written(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json snapshot_json(const SnapshotInfo& s) {
  return Json{{"name", s.name},
              {"path", s.path},
              {"format_version", count_or_null(s.format_version)},
              {"document", text_or_null(s.document)},
              {"n_tokens", count_or_null(s.n_tokens)},
              {"token_digest", text_or_null(s.token_digest)},
              {"model_name", text_or_null(s.model_name)},
              {"model_fingerprint", text_or_null(s.model_fingerprint)},
              {"arch", text_or_null(s.arch)},
              {"cache_type_k", text_or_null(s.cache_type_k)},
              {"cache_type_v", text_or_null(s.cache_type_v)},
              {"engine", text_or_null(s.engine)},
              {"deterministic", s.problem.empty() ? Json(s.deterministic) : Json(nullptr)},
              {"size_bytes", s.size_bytes},
              {"state_bytes", number_or_null(s.state_bytes)},
              {"created_at", text_or_null(s.created_at)},
              {"last_used_at", text_or_null(s.last_used_at)},
              {"in_use", s.in_use},
              {"problem", text_or_null(s.problem)}};
}

Json saved_json(const SavedDocument& saved) {
  const SnapshotReport& s = saved.result;
  return Json{{"document", saved.document},
              {"state", s.state},
              {"path", text_or_null(s.path)},
              {"size_bytes", number_or_null(s.size_bytes)},
              {"n_tokens", count_or_null(s.n_tokens)},
              {"ms", s.ms > 0 ? Json(s.ms) : Json(nullptr)},
              {"reason", s.reason ? Json(*s.reason) : Json(nullptr)}};
}

}  // namespace

std::string to_json(const ModelDescription& m) {
  return written(Json{{"schema", "swarmkv.model/1"},
                      {"path", m.path},
                      {"name", text_or_null(m.name)},
                      {"arch", text_or_null(m.arch)},
                      {"quant", text_or_null(m.quant)},
                      {"size_bytes", number_or_null(m.size_bytes)},
                      {"n_params", number_or_null(m.n_params)},
                      {"n_layers", count_or_null(m.n_layers)},
                      {"n_vocab", count_or_null(m.n_vocab)},
                      {"n_ctx_train", count_or_null(m.n_ctx_train)},
                      {"n_window", count_or_null(m.n_window)},
                      {"kv_bytes_per_token", number_or_null(m.kv_bytes_per_token)},
                      {"fork_kind", text_or_null(m.fork_kind)},
                      {"attention", text_or_null(m.attention)},
                      {"deterministic", text_or_null(m.deterministic)},
                      {"has_chat_template", m.has_chat_template},
                      {"fingerprint", text_or_null(m.fingerprint)}});
}

std::string to_json(const SnapshotInfo& snapshot) {
  Json json{{"schema", "swarmkv.snapshot/1"}};
  json.update(snapshot_json(snapshot));
  return written(json);
}

std::string to_json(const std::vector<SnapshotInfo>& snapshots, const std::string& folder) {
  Json list = Json::array();
  for (const SnapshotInfo& s : snapshots) list.push_back(snapshot_json(s));
  return written(
      Json{{"schema", "swarmkv.snapshots/1"}, {"folder", folder}, {"snapshots", std::move(list)}});
}

std::string to_json(const std::vector<SavedDocument>& documents) {
  Json list = Json::array();
  for (const SavedDocument& saved : documents) list.push_back(saved_json(saved));
  return written(Json{{"schema", "swarmkv.saved/1"}, {"documents", std::move(list)}});
}

}  // namespace swarmkv::cli
