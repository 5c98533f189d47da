// What became of the files of one target: first those that were found, then what was kept.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/snapshot_parts.h"
#include "swarmkv/report.h"

namespace swarmkv::internal {
namespace {

std::optional<std::string> with_reason(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

SnapshotReport outcome_of(const SnapshotFileReport& file, const std::string& reason) {
  return {file.state, file.path, file.size_bytes, file.n_tokens, file.ms, with_reason(reason), {}};
}

// The rejected one that is nearest to what was looked for: another model's says least.
const SnapshotFileReport* nearest(const std::vector<SnapshotFileReport>& files) {
  const SnapshotFileReport* out = nullptr;
  const auto says_little = [](const SnapshotFileReport& file) {
    return file.reason->starts_with("model fingerprint");
  };
  for (const SnapshotFileReport& file : files) {
    if (file.state != "rejected") continue;
    if (out == nullptr || (says_little(*out) && !says_little(file))) out = &file;
  }
  return out;
}

}  // namespace

SnapshotFileReport SnapshotUse::restored_from(Offered& offered) {
  return {"restored",
          offered.path,
          offered.size_bytes,
          offered.n_tokens,
          offered.find_ms + offered.loads().ms,
          std::nullopt,
          offered.documents};
}

// A file of a longer prefix that was loaded: it brought all of the target, too.
std::shared_ptr<SnapshotUse::Offered> SnapshotUse::longer_file(std::size_t target) const {
  const Tokens& tokens = *plan_.targets[target].tokens;
  for (std::size_t other = 0; other < uses_.size(); ++other) {
    const Tokens& longer = *plan_.targets[other].tokens;
    if (longer.size() == tokens.size() || !begins_with(longer, tokens)) continue;
    for (const auto& offered : uses_[other].offered) {
      const bool holds_it = offered->n_tokens > static_cast<int>(tokens.size());
      if (holds_it && offered->loads().n > 0) return offered;
    }
  }
  return nullptr;
}

SnapshotUse::Found SnapshotUse::found_for(std::size_t target) const {
  const TargetUse& use = uses_[target];
  Found out;
  for (const RejectedSnapshot& file : use.rejected) {
    const auto n = static_cast<int>(file.n_tokens);
    out.files.push_back({"rejected", file.path, 0, n, 0, file.reason,
                         names_in(context_.prepared, plan_.targets[target], n)});
  }
  for (const auto& offered : use.offered) {
    const Offered::Loads loads = offered->loads();
    if (loads.n > 0) {
      out.files.push_back(restored_from(*offered));
      if (!out.restored || offered->n_tokens >= out.restored->n_tokens) out.restored = offered;
    }
    if (!loads.error.empty()) {
      out.files.push_back({"rejected", offered->path, offered->size_bytes, offered->n_tokens, 0,
                           loads.error, offered->documents});
    } else if (loads.n == 0) {
      out.unused = offered;
    }
  }
  if (out.restored) return out;
  out.restored = longer_file(target);
  if (out.restored) out.files.push_back(restored_from(*out.restored));
  return out;
}

// Unset: nothing was to be kept. Else the file, or "skipped" and why there is none.
std::optional<SnapshotFileReport> SnapshotUse::kept_of(std::size_t target) const {
  const TargetUse& use = uses_[target];
  SnapshotFileReport out;
  out.state = "skipped";
  out.documents = names_of(target);
  out.reason = use.skipped;
  if (!use.skipped.empty()) return out;
  if (use.kept == nullptr) return std::nullopt;
  const MutexLock lock(use.kept->mutex);
  const std::optional<WriteOutcome> written = use.kept->written;
  if (written && !written->error_code) {
    out.state = "saved";
    out.path = written->saved.path;
    out.size_bytes = written->saved.size_bytes;
    out.n_tokens = plan_.targets[target].n_tokens();
    out.ms = use.kept->capture_ms + written->ms;
    out.reason.reset();
    return out;
  }
  out.reason = written                                          ? written->error
               : use.kept->is_done && use.kept->skipped.empty() ? "it was not written in time"
                                                                : use.kept->skipped;
  return out.reason->empty() ? std::nullopt : std::optional(out);
}

// Neither found nor kept.
SnapshotFileReport SnapshotUse::nothing_of(std::size_t target) const {
  SnapshotFileReport out;
  out.state = "skipped";
  out.reason = plan_.targets[target].is_auto
                   ? "it was not needed: it was in the cache already, or nobody came to read it"
                   : "a file that is named is read and not written, and holds other tokens";
  out.documents = names_of(target);
  return out;
}

SnapshotReport SnapshotUse::report_of(std::size_t target) const {
  Found found = found_for(target);
  std::vector<SnapshotFileReport>& files = found.files;
  const SnapshotFileReport* refused = nearest(files);
  const std::string rejected = refused == nullptr ? "" : *refused->reason;
  std::optional<SnapshotFileReport> kept = kept_of(target);
  const int n_all = plan_.targets[target].n_tokens();
  if (!kept && !found.restored && refused == nullptr) kept = nothing_of(target);
  const bool has_own = found.unused && found.unused->n_tokens == n_all;  // which nobody needed
  if (kept && has_own && kept->state == "skipped") {
    kept->path = found.unused->path;
    kept->size_bytes = found.unused->size_bytes;
    kept->n_tokens = n_all;
  }
  SnapshotReport out;
  if (kept && kept->state == "saved") {
    const int n_restored = found.restored ? std::min(found.restored->n_tokens, n_all) : 0;
    out =
        outcome_of(*kept, found.restored ? fmt::format("{} tokens of it were restored", n_restored)
                                         : rejected);
  } else if (found.restored) {
    const bool is_whole = found.restored->n_tokens >= n_all;
    if (is_whole && !has_own) kept.reset();  // nobody missed it
    out = outcome_of(restored_from(*found.restored),
                     kept && !has_own ? "not saved: " + *kept->reason : rejected);
  } else if (refused != nullptr) {
    out = outcome_of(*refused, kept ? rejected + "; not saved: " + *kept->reason : rejected);
  } else {
    out = outcome_of(*kept, *kept->reason);
  }
  if (kept) files.push_back(std::move(*kept));
  out.files = std::move(files);
  return out;
}

}  // namespace swarmkv::internal
