#include <fcntl.h>
#include <unistd.h>

#include <string_view>

#include "cli/commands.h"
#include "cli/detail_lines.h"
#include "cli/file_json.h"
#include "cli/output.h"
#include "cli/progress_render.h"
#include "cli/snapshot_table.h"
#include "cli/terminal.h"
#include "swarmkv/engine.h"
#include "swarmkv/error.h"
#include "swarmkv/report.h"

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

// What the run said at its end, and in front of it what the table leaves out.
std::string as_text(const RunReport& r, bool color) {
  const std::pair<const char*, std::string> rows[] = {
      {"name", r.name},
      {"started", r.started_at},
      {"ended", r.status + ", exit code " + std::to_string(r.exit_code)},
      {"model", r.model_path},
      {"quantisation", r.quant},
      {"device", r.device},
      {"attention", r.attention},
      {"hand-over", r.handoff}};
  return detail_lines(rows) + "\n" + to_table(r, color);
}

// A JSON file begins with a bracket, a model and a snapshot with their marks. Pipes cannot be
// looked at twice and are no reports.
bool looks_like_json(const std::string& path) {
  if (is_special_file(path)) return false;
  const File file(path, O_RDONLY);
  char bytes[64] = {};
  const ssize_t n = file.fd() < 0 ? 0 : ::read(file.fd(), bytes, sizeof bytes);
  const std::string_view begin(bytes, n < 0 ? 0 : static_cast<std::size_t>(n));
  const std::size_t first = begin.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (begin[first] == '{' || begin[first] == '[');
}

RunReport report_in(const std::string& path, const std::string& text) {
  try {
    return parse_report(text);
  } catch (const Error& error) {
    throw Error(error.code(), std::string(error.what()) + ": '" + path +
                                  "'; inspect takes a GGUF model, a snapshot (.swkv) or the report "
                                  "of a run (--report NAME.json)");
  }
}

}  // namespace

int command_inspect(const Settings& settings, const Invocation& invocation) {
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
  } else if (path.ends_with(".json") || looks_like_json(path)) {
    constexpr std::size_t kLargest = std::size_t{1} << 30;
    text = read_whole(path, kLargest);
    const RunReport report = report_in(path, text);
    const bool color =
        use_color(settings.color, invocation.environment, is_terminal(STDOUT_FILENO));
    if (!json) text = as_text(report, color);
  } else {
    const ModelDescription model = inspect_model(path);
    text = json ? to_json(model) : as_text(model);
  }
  write_all(STDOUT_FILENO, text, "standard output");
  return 0;
}

}  // namespace swarmkv::cli
