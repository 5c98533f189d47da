#include "cli/snapshot_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>

#include "cli/detail_lines.h"
#include "cli/progress_frame.h"
#include "cli/progress_render.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {
namespace {

constexpr std::size_t kShortName = 12;
// On a narrow terminal: what is left of what a model or a document is called, and how much of a
// note has to fit beside it; a longer one runs on below.
constexpr std::size_t kLeastColumns = 12;
constexpr std::size_t kNoteColumns = 24;
constexpr std::string_view kSuffix = ".swkv", kDamaged = ".damaged";

constexpr std::array kHeaders = {"name", "model",     "document",  "tokens",
                                 "size", "saved UTC", "last used", "note"};
constexpr std::size_t kGap = 2;
constexpr std::size_t kModel = 1, kDocument = 2, kTokens = 3, kSize = 4, kNote = 7;
using Widths = std::array<std::size_t, kHeaders.size()>;
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
          or_dash(s.model_name),
          or_dash(s.document),
          s.n_tokens > 0 ? with_commas(s.n_tokens) : "-",
          bytes_text(s.size_bytes),
          minute_of(s.created_at),
          minute_of(s.last_used_at),
          note_of(s)};
}

std::string without(const std::string& name, std::string_view suffix) {
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

std::string stem_of(const std::string& name) { return without(without(name, kDamaged), kSuffix); }

// Takes from model and document, the wider one first, what a terminal has no room for.
void narrow(Widths& widths, std::size_t columns) {
  std::size_t sum = kGap * (widths.size() - 1) + std::min(widths[kNote], kNoteColumns);
  for (std::size_t c = 0; c < kNote; ++c) sum += widths[c];
  for (; sum > columns; --sum) {
    std::size_t& wider = widths[widths[kDocument] > widths[kModel] ? kDocument : kModel];
    if (wider <= kLeastColumns) return;
    --wider;
  }
}

}  // namespace

std::vector<std::string> short_names(const std::vector<SnapshotInfo>& snapshots) {
  std::set<std::string> names;
  for (const SnapshotInfo& s : snapshots) names.insert(s.name);
  // Of a file that was set aside and the one that took its place a beginning means the latter.
  const auto is_twin = [&names](const std::string& name) {
    return name.ends_with(kDamaged) && names.count(without(name, kDamaged)) > 0;
  };
  std::vector<std::string> sorted;
  std::copy_if(names.begin(), names.end(), std::back_inserter(sorted),
               [&](const std::string& name) { return !is_twin(name); });
  std::size_t length = kShortName;
  for (std::size_t i = 1; i < sorted.size(); ++i) {  // neighbours have the most in common
    const auto [a, b] = std::mismatch(sorted[i - 1].begin(), sorted[i - 1].end(), sorted[i].begin(),
                                      sorted[i].end());
    length = std::max(length, static_cast<std::size_t>(b - sorted[i].begin()) + 1);
  }
  std::vector<std::string> out;
  for (const SnapshotInfo& s : snapshots) {
    // A suffix cut in two would look like another name.
    const bool is_whole = is_twin(s.name) || stem_of(s.name).size() < length;
    out.push_back(is_whole ? s.name : s.name.substr(0, length));
  }
  return out;
}

std::string snapshot_table(const std::vector<SnapshotInfo>& snapshots, std::size_t columns) {
  if (snapshots.empty()) return "";
  const std::vector<std::string> names = short_names(snapshots);
  std::vector<Row> rows(1);
  std::copy(kHeaders.begin(), kHeaders.end(), rows[0].begin());
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    rows.push_back(row_of(snapshots[i], names[i]));
  }
  Widths widths{};
  for (Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] = fit_for_terminal(row[c], 4 * row[c].size() + 1);  // safe; nothing is cut
      widths[c] = std::max(widths[c], shown_columns(row[c]));
    }
  }
  if (columns > 0) narrow(widths, columns);
  std::string out;
  for (Row& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c == kModel || c == kDocument) row[c] = fit_for_terminal(row[c], widths[c]);
      const bool is_number = c == kTokens || c == kSize;
      const std::size_t fill = widths[c] - shown_columns(row[c]);
      line += (c == 0 ? "" : std::string(kGap, ' ')) + std::string(is_number ? fill : 0, ' ') +
              row[c] + std::string(is_number ? 0 : fill, ' ');
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
                                         n == 1 ? "snapshot" : "snapshots", bytes_text(bytes),
                                         folder)) +
         "\n";
}

std::string prune_line(const std::vector<SnapshotInfo>& snapshots, const std::string& folder_flag) {
  const auto n = std::count_if(snapshots.begin(), snapshots.end(),
                               [](const SnapshotInfo& s) { return s.damaged; });
  if (n == 0) return "";
  return fmt::format("{} of them {} of no use any more; to remove {}: swarmkv snapshot prune{}\n",
                     with_commas(n), n == 1 ? "is" : "are", n == 1 ? "it" : "them",
                     escape_for_terminal(folder_flag));
}

std::string snapshot_details(const SnapshotInfo& s) {
  const auto bytes = [](std::uint64_t n) {
    return n == 0 ? "" : with_commas(static_cast<long>(n)) + " bytes (" + bytes_text(n) + ")";
  };
  constexpr std::size_t kMostShownLabel = 1000;  // on one line: a label may hold anything
  const std::pair<const char*, std::string> rows[] = {
      {"path", s.path},
      {"name", s.name},
      {"format", s.format_version > 0 ? std::to_string(s.format_version) : ""},
      {"document", fit_for_terminal(s.document, kMostShownLabel)},
      {"tokens", s.n_tokens > 0 ? with_commas(s.n_tokens) : ""},
      {"token digest", s.token_digest},
      {"model", fit_for_terminal(s.model_name, kMostShownLabel)},
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
      {"problem", s.problem},
      {"what now", s.damaged ? "nothing reads it; swarmkv snapshot prune removes it" : ""}};
  return detail_lines(rows);
}

}  // namespace swarmkv::cli
