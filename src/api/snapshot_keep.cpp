// The run's end: what had to be computed is kept, if it is worth it, and all of it is told.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "api/snapshot_parts.h"
#include "base/deadline.h"
#include "swarmkv/report.h"

namespace swarmkv::internal {
namespace {

std::string mib(std::uint64_t bytes) {
  if (bytes < (1U << 20)) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

// Registered before the run starts, so that a document which is thrown out half way is kept, too.
void SnapshotUse::want_state(std::size_t i) {
  const SnapshotTarget& target = plan_.targets[i];
  TargetUse& use = uses_[i];
  auto kept = use.kept = std::make_shared<Kept>();

  // Of these the engine's thread asks; they hold all they need, for they may outlive the run.
  double bytes_per_ms = context_.host.disk_bytes_per_ms;
  std::vector<std::shared_ptr<Offered>> whole;
  for (const auto& offered : use.offered) {
    if (offered->n_tokens == target.n_tokens()) whole.push_back(offered);
    if (offered->find_ms > 0 && offered->state_bytes > (1U << 20)) {
      bytes_per_ms = static_cast<double>(offered->state_bytes) / offered->find_ms;
    }
  }
  const auto refuse = [kept, whole, bytes_per_ms, limit = options_.limit_bytes,
                       always = options_.always_save, &host = context_.host,
                       &writer = context_.writer](std::uint64_t size, double compute_ms) {
    for (const auto& offered : whole) {
      if (offered->loads().error.empty()) return std::string(kStoredAlready);
    }
    const auto refused = [&](std::string reason) {
      const MutexLock lock(kept->mutex);
      kept->is_warning = true;
      return reason;
    };
    if (size > limit) {
      return refused(
          fmt::format("too large: its state has {}, the limit is {}", mib(size), mib(limit)));
    }
    const auto free_bytes = host.memory_available_bytes();
    if (free_bytes && size + writer.n_pending_bytes() > *free_bytes / 2) {
      return refused(
          fmt::format("too large for memory: its state has {}, half of what is free is {}",
                      mib(size), mib(*free_bytes / 2)));
    }
    const double read_ms = static_cast<double>(size) / bytes_per_ms;
    if (!always && compute_ms <= 0) return std::string(kNotComputed);
    if (!always && read_ms >= compute_ms) {
      return fmt::format("reading it would take {:.1f} ms, computing it took {:.1f} ms", read_ms,
                         compute_ms);
    }
    return std::string();
  };

  Event event = event_of(i, target.n_tokens());
  event.type = EventType::kSnapshotSaved;
  WriteJob job;
  job.folder = folder_;
  job.model = context_.prepared.model;
  job.about = {identity_, arithmetic(target, target.n_tokens()), label_of(names_of(i)),
               context_.prepared.model->info().name, seconds_now()};
  job.tokens = target.tokens;
  job.limit_bytes = options_.limit_bytes;
  job.done = [kept, event, bus = context_.bus, progress = progress_](WriteOutcome outcome) {
    const bool is_saved = !outcome.error_code.has_value();
    Event saved = event;
    saved.text = outcome.saved.path;
    saved.size_bytes = outcome.saved.size_bytes;
    {
      const MutexLock lock(kept->mutex);
      saved.ms = kept->capture_ms + outcome.ms;
      kept->written = std::move(outcome);
    }
    const MutexLock lock(progress->mutex);
    if (is_saved && !progress->closed) bus->send(std::move(saved));
    --progress->n_writing;
    progress->changed.notify_all();
  };
  const auto done = [kept, job, progress = progress_,
                     &writer = context_.writer](Captured captured) {
    {
      const MutexLock lock(kept->mutex);
      kept->is_done = true;
      kept->capture_ms = captured.ms;
      kept->skipped = captured.reason;
    }
    if (!captured.reason.empty()) return;
    {
      const MutexLock lock(progress->mutex);
      ++progress->n_writing;
    }
    WriteJob filled = job;
    filled.state = std::move(captured.state.bytes);
    writer.add(std::move(filled));
  };
  use.capture = context_.runner.capture_later({target.tokens, refuse, done});
}

void SnapshotUse::finish(RunReport& report, const OrchestratorResult& outcome) {
  try {
    save_all(outcome);
    fill(report);
  } catch (const std::exception& e) {
    warn("SK608", std::string("snapshots of this run are incomplete: ") + e.what());
  }
  std::move(warnings_.begin(), warnings_.end(), std::back_inserter(report.warnings));
  warnings_.clear();
  for (TargetUse& use : uses_) {
    for (const auto& offered : use.offered) offered->offer.reset();
  }
}

void SnapshotUse::cancel() {
  const MutexLock lock(progress_->mutex);
  progress_->cancelled = true;
  progress_->changed.notify_all();
}

// One after another, so that no more than one state is in memory.
void SnapshotUse::save_all(const OrchestratorResult& outcome) {
  const auto until = deadline_after(std::chrono::steady_clock::now(), options_.save_timeout);
  std::string given_up = outcome.cancelled   ? "the run was cancelled"
                         : outcome.timed_out ? "the run ran out of time"
                                             : "";
  for (TargetUse& use : uses_) {
    if (use.capture == nullptr) continue;
    if (given_up.empty()) use.capture->settle();
    use.capture.reset();
    use.skipped = given_up;
    if (given_up.empty() && !wait_for_writer(until)) given_up = "no time was left";
  }
  const MutexLock lock(progress_->mutex);
  progress_->closed = true;
}

bool SnapshotUse::wait_for_writer(TimePoint until) {
  const MutexLock lock(progress_->mutex);
  bool in_time = true;
  while (progress_->n_writing > 0 && in_time && !progress_->cancelled) {
    in_time = progress_->changed.wait_until(progress_->mutex, until) == std::cv_status::no_timeout;
  }
  return progress_->n_writing == 0 && !progress_->cancelled;
}

}  // namespace swarmkv::internal
