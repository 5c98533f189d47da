// What became of a run's snapshots, for its report.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/build_report.h"
#include "api/snapshot_parts.h"
#include "swarmkv/report.h"

namespace swarmkv::internal {
namespace {

bool is_same(const SnapshotFileReport& a, const SnapshotFileReport& b) {
  return a.state == b.state && a.path == b.path && a.documents == b.documents;
}

// What is known of a document from one prefix, beside what is known from others.
void add(std::optional<SnapshotReport>& place, SnapshotReport known, bool ends_here) {
  std::vector<SnapshotFileReport> files;
  if (place) files = std::move(place->files);
  for (SnapshotFileReport& file : known.files) {
    const auto same =
        std::find_if(files.begin(), files.end(),
                     [&](const SnapshotFileReport& other) { return is_same(other, file); });
    if (same == files.end()) files.push_back(std::move(file));
  }
  if (!place || ends_here) place = std::move(known);
  place->files = std::move(files);
}

}  // namespace

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
      const bool ends_here = document == plan_.targets[i].documents.back();
      add(report.documents[document].snapshot, known, ends_here);
    }
    tell_readings(report, i, known);
    if (use.kept == nullptr) continue;
    const MutexLock lock(use.kept->mutex);
    const std::optional<WriteOutcome> written = use.kept->written;
    const auto warn_not_saved = [&](const std::string& why) {
      warn("SK608", fmt::format("no snapshot of '{}' was saved: {}", label_of(names_of(i)), why));
    };
    if (use.kept->is_warning) {
      warn_not_saved(use.kept->skipped);
    } else if (written && written->error_code) {
      warn_not_saved(written->error);
    } else if (use.kept->is_done && use.kept->skipped.empty() && !written && !was_cancelled) {
      warn_not_saved(fmt::format("it was not written within {} ms", options_.save_timeout.count()));
    }
  }
  mark_restored(report);
}

// A reading hears of the snapshot that ends with it, else of one that goes on behind it.
void SnapshotUse::tell_readings(RunReport& report, std::size_t i,
                                const SnapshotReport& known) const {
  const SnapshotTarget& target = plan_.targets[i];
  const std::size_t n = target.document_ends.size();
  for (const ReadList& list : context_.prepared.read_lists) {
    if (!begins_with(*list.prefix.tokens, *target.tokens)) continue;
    for (std::size_t d = 0; d < n; ++d) {
      const std::size_t document = list.documents[d];
      if (!report.documents[document].snapshot) continue;  // off
      DocumentReading& reading =
          report.documents[document].readings[static_cast<std::size_t>(list.readings[d])];
      if (!reading.snapshot || d + 1 == n) reading.snapshot = known;
    }
  }
}

// Documents that came from files, whole or in part, in each place in which they are read.
void SnapshotUse::mark_restored(RunReport& report) const {
  for (const ReadList& list : context_.prepared.read_lists) {
    for (std::size_t t = 0; t < uses_.size(); ++t) {
      if (!begins_with(*list.prefix.tokens, *plan_.targets[t].tokens)) continue;
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
