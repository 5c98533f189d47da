#include "report/snapshot_lines.h"

#include <fmt/format.h>

#include <filesystem>

#include "report/readings.h"
#include "text/table.h"

namespace swarmkv::internal {
namespace {

// Its folder is always the same; what stands in it is told by its name.
std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string size_and_time(const SnapshotReport& s) {
  std::string out = s.size_bytes > 0 ? format_bytes(s.size_bytes) : "";
  if (s.ms > 0)
    out += (out.empty() ? "" : ", ") + format_fixed(s.ms / 1000, s.ms < 1000 ? 2 : 1) + " s";
  return out.empty() ? "" : " (" + out + ")";
}

std::string moved(const SnapshotReport& s, const char* preposition) {
  std::string out = s.state;
  if (s.n_tokens > 0) out += " " + format_count(s.n_tokens) + " tokens";
  if (!s.path.empty()) out += fmt::format(" {} {}", preposition, file_name(s.path));
  return out + size_and_time(s);
}

}  // namespace

std::string snapshot_text(const SnapshotReport& s) {
  if (s.state == "restored" || s.state == "saved") {
    return moved(s, s.state == "saved" ? "to" : "from") + (s.reason ? "; note: " + *s.reason : "");
  }
  const std::string what = s.state == "skipped" ? "not saved" : s.state;
  return s.reason ? what + ": " + *s.reason : what;
}

std::string snapshot_lines(const RunReport& r, const Paint& paint) {
  std::string out;
  for (const DocumentReport& d : r.documents) {
    for (const DocumentReading& reading : shown_readings(d)) {
      const std::optional<SnapshotReport>& s =
          d.readings.size() > 1 ? reading.snapshot : d.snapshot;
      if (!s) continue;
      const bool named = r.documents.size() > 1 || d.readings.size() > 1;
      out +=
          labelled_line(paint, s->state == "rejected" ? Paint::kYellow : Paint::kPlain, "snapshot",
                        (named ? reading_name(d, reading) + ": " : "") + snapshot_text(*s));
    }
  }
  return out;
}

}  // namespace swarmkv::internal
