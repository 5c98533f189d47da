#include "cli/snapshot_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/detail_lines.h"
#include "cli/progress_frame.h"
#include "cli/progress_render.h"
#include "cli/snapshot_text.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {
namespace {

constexpr std::size_t kShortName = 12;
constexpr std::size_t kMostColumns = 24;  // of what a model or a document is called

constexpr std::array kHeaders = {"name", "model",     "document",  "tokens",
                                 "size", "saved UTC", "last used", "note"};
constexpr std::size_t kTokens = 3, kSize = 4;
using Row = std::array<std::string, kHeaders.size()>;

// "2026-11-30T09:12:33Z" -> "2026-11-30 09:12".
std::string minute_of(const std::string& iso) {
  constexpr std::size_t kDate = 10, kMinute = 16;
  if (iso.size() < kMinute || iso[kDate] != 'T') return iso.empty() ? "-" : iso;
  return iso.substr(0, kDate) + " " + iso.substr(kDate + 1, kMinute - kDate - 1);
}

std::string note_of(const SnapshotInfo& s) {
  std::string out = s.problem.empty() ? "" : "unusable: " + s.problem;
  const auto add = [&out](const char* word) {
    out += (out.empty() ? "" : ", ") + std::string(word);
  };
  if (s.in_use) add("in use");
  if (s.deterministic) add("deterministic");
  return out;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

Row row_of(const SnapshotInfo& s, const std::string& name) {
  return {name,
          fit_for_terminal(or_dash(s.model_name), kMostColumns),
          fit_for_terminal(or_dash(s.document), kMostColumns),
          s.n_tokens > 0 ? with_commas(s.n_tokens) : "-",
          size_text(s.size_bytes),
          minute_of(s.created_at),
          minute_of(s.last_used_at),
          note_of(s)};
}

}  // namespace

std::vector<std::string> short_names(const std::vector<SnapshotInfo>& snapshots) {
  std::vector<std::string> sorted;
  for (const SnapshotInfo& s : snapshots) sorted.push_back(s.name);
  std::sort(sorted.begin(), sorted.end());
  std::size_t length = kShortName;
  for (std::size_t i = 1; i < sorted.size(); ++i) {  // neighbours have the most in common
    const auto [a, b] = std::mismatch(sorted[i - 1].begin(), sorted[i - 1].end(), sorted[i].begin(),
                                      sorted[i].end());
    length = std::max(length, static_cast<std::size_t>(b - sorted[i].begin()) + 1);
  }
  std::vector<std::string> out;
  for (const SnapshotInfo& s : snapshots) out.push_back(s.name.substr(0, length));
  return out;
}

std::string snapshot_table(const std::vector<SnapshotInfo>& snapshots) {
  if (snapshots.empty()) return "";
  const std::vector<std::string> names = short_names(snapshots);
  std::vector<Row> rows(1);
  std::copy(kHeaders.begin(), kHeaders.end(), rows[0].begin());
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    rows.push_back(row_of(snapshots[i], names[i]));
  }
  std::array<std::size_t, kHeaders.size()> widths{};
  for (Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] = fit_for_terminal(row[c], 4 * row[c].size() + 1);  // safe; nothing is cut
      widths[c] = std::max(widths[c], shown_columns(row[c]));
    }
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const bool is_number = c == kTokens || c == kSize;
      const std::size_t fill = widths[c] - shown_columns(row[c]);
      line += (c == 0 ? "" : "  ") + std::string(is_number ? fill : 0, ' ') + row[c] +
              std::string(is_number ? 0 : fill, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string store_line(const std::vector<SnapshotInfo>& snapshots, const std::string& folder) {
  if (snapshots.empty()) return escape_for_terminal("no snapshots in " + folder) + "\n";
  std::uint64_t bytes = 0;
  for (const SnapshotInfo& s : snapshots) bytes += s.size_bytes;
  const std::size_t n = snapshots.size();
  return escape_for_terminal(fmt::format("{} {}, {} in {}", with_commas(static_cast<long>(n)),
                                         n == 1 ? "snapshot" : "snapshots", size_text(bytes),
                                         folder)) +
         "\n";
}

std::string snapshot_details(const SnapshotInfo& s) {
  const auto bytes = [](std::uint64_t n) {
    return n == 0 ? "" : with_commas(static_cast<long>(n)) + " bytes (" + size_text(n) + ")";
  };
  const std::pair<const char*, std::string> rows[] = {
      {"path", s.path},
      {"name", s.name},
      {"format", s.format_version > 0 ? std::to_string(s.format_version) : ""},
      {"document", s.document},
      {"tokens", s.n_tokens > 0 ? with_commas(s.n_tokens) : ""},
      {"token digest", s.token_digest},
      {"model", s.model_name},
      {"fingerprint", s.model_fingerprint},
      {"architecture", s.arch},
      {"KV types", s.cache_type_k.empty() ? "" : s.cache_type_k + " / " + s.cache_type_v},
      {"engine", s.engine},
      {"deterministic", s.deterministic ? "yes" : "no"},
      {"file size", bytes(s.size_bytes)},
      {"state size", bytes(s.state_bytes)},
      {"saved", s.created_at},
      {"last used", s.last_used_at},
      {"in use", s.in_use ? "yes" : ""},
      {"problem", s.problem}};
  return detail_lines(rows);
}

}  // namespace swarmkv::cli
