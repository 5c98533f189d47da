// What became of a run's snapshots, for its report.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/build_report.h"
#include "api/snapshot_parts.h"
#include "swarmkv/report.h"

namespace swarmkv::internal {

void SnapshotUse::fill(RunReport& report) {
  bool was_cancelled = false;
  {
    const MutexLock lock(progress_->mutex);
    was_cancelled = progress_->cancelled;
  }
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    TargetUse& use = uses_[i];
    for (const auto& offered : use.offered) {
      const std::string error = offered->loads().error;
      if (error.empty() || !is_news(offered->path)) continue;
      const bool is_gone = !offered->name.empty() && folder_->set_aside(offered->name);
      warn_not_used(offered->path, error, offered->name, is_gone);
    }
    const SnapshotReport known = report_of(i);
    for (const std::size_t document : plan_.targets[i].documents) {
      std::optional<SnapshotReport>& place = report.documents[document].snapshot;
      const bool ends_here = document == plan_.targets[i].documents.back();
      if (!place || ends_here) place = known;
    }
    tell_readings(report, i, known);
    if (use.kept == nullptr) continue;
    const MutexLock lock(use.kept->mutex);
    const std::optional<WriteOutcome> written = use.kept->written;
    if (use.kept->is_warning) {
      warn("SK608",
           fmt::format("no snapshot of '{}' was saved: {}", name_of(i), use.kept->skipped));
    } else if (written && written->error_code) {
      warn("SK608", fmt::format("no snapshot of '{}' was saved: {}", name_of(i), written->error));
    } else if (use.kept->is_done && use.kept->skipped.empty() && !written && !was_cancelled) {
      warn("SK608", fmt::format("no snapshot of '{}' was saved: it was not written within {} ms",
                                name_of(i), options_.save_timeout.count()));
    }
  }
  mark_restored(report);
}

SnapshotReport SnapshotUse::report_of(std::size_t target) const {
  const TargetUse& use = uses_[target];
  SnapshotReport out;
  const auto with_reason = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string>(text);
  };
  for (const auto& offered : use.offered) {
    const Offered::Loads loads = offered->loads();
    if (loads.n == 0 || offered->n_tokens < out.n_tokens) continue;
    out = {"restored",
           offered->path,
           offered->size_bytes,
           offered->n_tokens,
           offered->find_ms + loads.ms,
           std::nullopt};
  }
  std::string rejected = use.rejected;
  for (const auto& offered : use.offered) {
    if (rejected.empty()) rejected = offered->loads().error;
  }
  std::string skipped = use.skipped;
  if (use.kept != nullptr && skipped.empty()) {
    const MutexLock lock(use.kept->mutex);
    const std::optional<WriteOutcome> written = use.kept->written;
    if (written && !written->error_code) {
      const std::string why = out.state == "restored"
                                  ? fmt::format("{} tokens of it were restored", out.n_tokens)
                                  : rejected;
      return {"saved",
              written->saved.path,
              written->saved.size_bytes,
              plan_.targets[target].n_tokens(),
              use.kept->capture_ms + written->ms,
              with_reason(why)};
    }
    skipped = written                                          ? written->error
              : use.kept->is_done && use.kept->skipped.empty() ? "it was not written in time"
                                                               : use.kept->skipped;
  }
  if (out.state == "restored") {
    const bool is_whole = out.n_tokens == plan_.targets[target].n_tokens();
    out.reason = with_reason(is_whole || skipped.empty() ? rejected : "not saved: " + skipped);
    return out;
  }
  for (const auto& offered : use.offered) {
    if (!offered->loads().error.empty()) continue;
    out.path = offered->path;
    out.size_bytes = offered->size_bytes;
    out.n_tokens = offered->n_tokens;
  }
  out.state = rejected.empty() ? "skipped" : "rejected";
  if (skipped.empty() && rejected.empty())
    skipped = "it was not needed: it was in the cache already, or nobody came to read it";
  out.reason = with_reason(rejected.empty()  ? skipped
                           : skipped.empty() ? rejected
                                             : rejected + "; not saved: " + skipped);
  return out;
}

// A reading hears of the snapshot that ends with it, else of one that goes on behind it.
void SnapshotUse::tell_readings(RunReport& report, std::size_t i,
                                const SnapshotReport& known) const {
  const SnapshotTarget& target = plan_.targets[i];
  const ReadList& list = context_.prepared.read_lists[target.list];
  const std::size_t n = target.document_ends.size();
  for (std::size_t d = 0; d < n; ++d) {
    const std::size_t document = list.documents[d];
    if (!report.documents[document].snapshot) continue;  // off
    DocumentReading& reading =
        report.documents[document].readings[static_cast<std::size_t>(list.readings[d])];
    if (!reading.snapshot || d + 1 == n) reading.snapshot = known;
  }
}

// Documents that came from files, whole or in part, in each place in which they are read.
void SnapshotUse::mark_restored(RunReport& report) const {
  for (const ReadList& list : context_.prepared.read_lists) {
    for (std::size_t t = 0; t < uses_.size(); ++t) {
      const Tokens& target = *plan_.targets[t].tokens;
      const Tokens& tokens = *list.prefix.tokens;
      if (target.size() > tokens.size() ||
          !std::equal(target.begin(), target.end(), tokens.begin())) {
        continue;
      }
      int n_restored = 0;
      for (const auto& offered : uses_[t].offered) {
        if (offered->loads().n > 0) n_restored = std::max(n_restored, offered->n_tokens);
      }
      for (std::size_t d = 0; d < list.documents.size() && list.begin(d) < n_restored; ++d) {
        DocumentReading& reading = report.documents[list.documents[d]]
                                       .readings[static_cast<std::size_t>(list.readings[d])];
        reading.source = "restored";
        reading.restored_tokens =
            std::max(reading.restored_tokens, std::min(n_restored, list.end(d)) - list.begin(d));
      }
    }
  }
  for (DocumentReport& document : report.documents) sum_up(document);
}

}  // namespace swarmkv::internal
