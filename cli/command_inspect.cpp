#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress_render.h"
#include "swarmkv/engine.h"

namespace swarmkv::cli {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(std::uint64_t n) { return n == 0 ? Json(nullptr) : Json(n); }
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

std::string as_json(const ModelDescription& m) {
  const auto count = [](int n) {
    return number_or_null(static_cast<std::uint64_t>(n < 0 ? 0 : n));
  };
  const Json json{{"schema", "swarmkv.model/1"},
                  {"path", m.path},
                  {"name", text_or_null(m.name)},
                  {"arch", text_or_null(m.arch)},
                  {"quant", text_or_null(m.quant)},
                  {"size_bytes", number_or_null(m.size_bytes)},
                  {"n_params", number_or_null(m.n_params)},
                  {"n_layers", count(m.n_layers)},
                  {"n_vocab", count(m.n_vocab)},
                  {"n_ctx_train", count(m.n_ctx_train)},
                  {"n_window", count(m.n_window)},
                  {"kv_bytes_per_token", number_or_null(m.kv_bytes_per_token)},
                  {"fork_kind", text_or_null(m.fork_kind)},
                  {"attention", text_or_null(m.attention)},
                  {"deterministic", text_or_null(m.deterministic)},
                  {"has_chat_template", m.has_chat_template},
                  {"fingerprint", text_or_null(m.fingerprint)}};
  // A file's metadata need not be valid UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string counted(std::uint64_t n, const char* unit) {
  return n == 0 ? "" : with_commas(static_cast<long>(n)) + unit;
}

std::string as_text(const ModelDescription& m) {
  const auto count = [](int n) { return counted(static_cast<std::uint64_t>(n < 0 ? 0 : n), ""); };
  const std::pair<const char*, std::string> rows[] = {
      {"path", m.path},
      {"name", m.name},
      {"architecture", m.arch},
      {"quantisation", m.quant},
      {"file size", counted(m.size_bytes, " bytes")},
      {"parameters", counted(m.n_params, "")},
      {"layers", count(m.n_layers)},
      {"vocabulary", count(m.n_vocab)},
      {"training context", count(m.n_ctx_train)},
      {"window", count(m.n_window)},
      {"KV per token", counted(m.kv_bytes_per_token, " bytes")},
      {"fork", m.fork_kind},
      {"attention", m.attention},
      {"deterministic", m.deterministic},
      {"chat template", m.has_chat_template ? "yes" : "no"},
      {"fingerprint", m.fingerprint}};
  std::string out;
  for (const auto& [name, value] : rows) {
    if (!value.empty()) out += fmt::format("{:<18}{}\n", name, escape_for_terminal(value));
  }
  return out;
}

}  // namespace

int command_inspect(const Settings& settings) {
  if (settings.arguments.size() != 1) {
    throw UsageError("inspect takes one MODEL file, but got " +
                     std::to_string(settings.arguments.size()));
  }
  const ModelDescription model = inspect_model(settings.arguments.front());
  write_all(STDOUT_FILENO, settings.output == "json" ? as_json(model) : as_text(model),
            "standard output");
  return 0;
}

}  // namespace swarmkv::cli
