#include "report/snapshot_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>
#include <tuple>

#include "text/table.h"

namespace swarmkv {
namespace {

// Its folder is always the same; what stands in it is told by its name.
std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string size_and_time(const SnapshotFileReport& s) {
  std::string out = s.size_bytes > 0 ? bytes_text(s.size_bytes) : "";
  if (s.ms > 0) {
    out +=
        (out.empty() ? "" : ", ") + internal::format_fixed(s.ms / 1000, s.ms < 1000 ? 2 : 1) + " s";
  }
  return out.empty() ? "" : " (" + out + ")";
}

std::string moved(const SnapshotFileReport& s, const char* preposition) {
  std::string out = s.state;
  if (s.n_tokens > 0) out += " " + internal::format_count(s.n_tokens) + " tokens";
  if (!s.path.empty()) out += fmt::format(" {} {}", preposition, file_name(s.path));
  return out + size_and_time(s);
}

}  // namespace

std::string bytes_text(std::uint64_t n_bytes) { return internal::format_bytes(n_bytes); }

std::string snapshot_text(const SnapshotFileReport& s) {
  if (s.state == "restored" || s.state == "saved") {
    return moved(s, s.state == "saved" ? "to" : "from") + (s.reason ? "; note: " + *s.reason : "");
  }
  std::string what = s.state == "skipped" ? "not saved" : s.state;
  if (s.state == "rejected" && !s.path.empty()) what += " " + file_name(s.path);
  return s.reason ? what + ": " + *s.reason : what;
}

namespace internal {

std::string snapshot_lines(const RunReport& r, const Paint& paint) {
  std::string out;
  const auto add = [&](const std::string& name, const SnapshotFileReport& file) {
    const bool rejected = file.state == "rejected";
    out += labelled_line(paint, rejected ? Paint::kYellow : Paint::kPlain, "snapshot",
                         (r.documents.size() > 1 ? name + ": " : "") + snapshot_text(file));
  };
  // A file of several documents stands at each of them, and is told once.
  std::set<std::tuple<std::string, std::string, std::vector<std::string>>> told;
  for (const DocumentReport& d : r.documents) {
    if (!d.snapshot) continue;
    const SnapshotReport& s = *d.snapshot;
    if (s.files.empty()) {
      add(d.name, {s.state, s.path, s.size_bytes, s.n_tokens, s.ms, s.reason, {}});
    }
    for (const SnapshotFileReport& file : s.files) {
      if (!told.emplace(file.state, file.path, file.documents).second) continue;
      const bool has_names = !file.documents.empty();
      add(has_names ? fmt::format("{}", fmt::join(file.documents, " + ")) : d.name, file);
    }
  }
  return out;
}

}  // namespace internal
}  // namespace swarmkv
