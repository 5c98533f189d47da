#include <unistd.h>

#include "cli/commands.h"
#include "cli/detail_lines.h"
#include "cli/file_json.h"
#include "cli/output.h"
#include "cli/progress_render.h"
#include "cli/snapshot_table.h"
#include "swarmkv/engine.h"

namespace swarmkv::cli {
namespace {

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
  return detail_lines(rows);
}

}  // namespace

int command_inspect(const Settings& settings) {
  if (settings.arguments.size() != 1) {
    throw UsageError("inspect takes one FILE, but got " +
                     std::to_string(settings.arguments.size()));
  }
  const std::string& path = settings.arguments.front();
  const bool json = settings.output == "json";
  std::string text;
  if (is_snapshot(path) || path.ends_with(".swkv")) {
    const SnapshotInfo snapshot = inspect_snapshot(path);
    text = json ? to_json(snapshot) : snapshot_details(snapshot);
  } else {
    const ModelDescription model = inspect_model(path);
    text = json ? to_json(model) : as_text(model);
  }
  write_all(STDOUT_FILENO, text, "standard output");
  return 0;
}

}  // namespace swarmkv::cli
