#include "cli/snapshot_text.h"

#include <filesystem>

#include "cli/progress_render.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {
namespace {

// What the event says, as a report would; without a state if it is of another kind.
SnapshotFileReport file_of(const Event& event) {
  SnapshotFileReport out;
  if (event.type == EventType::kSnapshotRejected) {
    out.state = "rejected";
    out.reason = event.text;
  } else if (event.type == EventType::kSnapshotRestored ||
             event.type == EventType::kSnapshotSaved) {
    out.state = event.type == EventType::kSnapshotRestored ? "restored" : "saved";
    out.path = event.text;
    out.size_bytes = event.size_bytes;
    out.n_tokens = event.n_tokens;
    out.ms = event.ms;
  }
  return out;
}

}  // namespace

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string snapshot_news(const Event& event) {
  const SnapshotFileReport file = file_of(event);
  return file.state.empty() ? "" : snapshot_text(file);
}

std::string snapshot_note(const Event& event) {
  SnapshotFileReport file = file_of(event);
  if (file.state.empty()) return "";
  const bool is_part = file.state == "restored" && event.n_tokens < event.n_total;
  file.path.clear();
  file.n_tokens = 0;
  return (is_part ? with_commas(event.n_tokens) + " " : "") + snapshot_text(file);
}

}  // namespace swarmkv::cli
