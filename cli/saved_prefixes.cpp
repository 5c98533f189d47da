#include "cli/saved_prefixes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/progress_render.h"
#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

bool is_kept(const SnapshotReport& s) { return s.state == "saved" || s.state == "restored"; }

// Of one prefix's files the one that tells how it ended: what was saved, then why it was not, then
// what was there already.
int rank_of(const SnapshotFileReport& file) {
  if (file.state == "saved") return 3;
  if (file.state == "skipped") return 2;
  return file.state == "restored" ? 1 : 0;
}

SnapshotReport result_of(const SnapshotFileReport& file) {
  SnapshotReport out{file.state,  file.path, file.size_bytes, file.n_tokens, file.ms,
                     file.reason, {}};
  const bool was_not_needed = out.state == "skipped" && !out.path.empty();
  if (was_not_needed) {  // a longer one brought it, too
    out.state = "restored";
    out.reason.reset();
  }
  return out;
}

SnapshotReport failed_because(const std::optional<std::string>& why) {
  SnapshotReport out;
  out.state = "failed";
  out.reason = why.value_or("it was not read");
  return out;
}

// What kept the run from reading; unset = nothing did.
std::optional<std::string> failure_of(const RunReport& report) {
  for (const AgentReport& agent : report.agents) {
    if (agent.status != AgentStatus::kFinished) return agent.error.value_or("it was not read");
  }
  return std::nullopt;
}

int failure_code(const RunReport& report) {
  return report.exit_code == 0 ? exit_code(ErrorCode::kInternal) : report.exit_code;
}

}  // namespace

SavedDocument saved_document(const std::string& file, const RunReport& report, int& code) {
  const AgentReport& agent = report.agents.front();
  const std::optional<SnapshotReport>& snapshot = report.documents.front().snapshot;
  if (agent.status != AgentStatus::kFinished || !snapshot) {
    code = failure_code(report);
    return {file, failed_because(agent.error)};
  }
  SnapshotReport out = *snapshot;
  const int n_all = report.documents.front().n_tokens;
  if (out.state == "restored" && out.n_tokens < n_all) {  // the rest was computed and not kept
    out.state = "skipped";
    out.reason = fmt::format("only {} of {} tokens are kept{}", with_commas(out.n_tokens),
                             with_commas(n_all), out.reason ? ": " + *out.reason : "");
  }
  code = is_kept(out) ? 0 : exit_code(ErrorCode::kUnwritable);
  return {file, std::move(out)};
}

std::vector<SavedDocument> saved_prefixes(const RunReport& report, int& code) {
  std::vector<std::pair<std::string, const SnapshotFileReport*>> last;
  for (const DocumentReport& document : report.documents) {
    if (!document.snapshot) continue;
    for (const SnapshotFileReport& file : document.snapshot->files) {
      const std::string name = fmt::format("{}", fmt::join(file.documents, " + "));
      const auto known = std::find_if(last.begin(), last.end(),
                                      [&](const auto& other) { return other.first == name; });
      if (known == last.end()) {
        last.emplace_back(name, &file);
      } else if (rank_of(file) > rank_of(*known->second)) {
        known->second = &file;
      }
    }
  }
  const std::optional<std::string> failure = failure_of(report);
  code = failure ? failure_code(report) : 0;
  std::vector<SavedDocument> out;
  if (last.empty()) {
    code = failure_code(report);
    out.push_back({report.name, failed_because(failure)});
  }
  for (const auto& [name, file] : last) {
    SnapshotReport result = result_of(*file);
    if (!is_kept(result)) {
      if (failure) result = failed_because(failure);
      if (code == 0) code = exit_code(ErrorCode::kUnwritable);
    }
    out.push_back({name, std::move(result)});
  }
  return out;
}

}  // namespace swarmkv::cli
