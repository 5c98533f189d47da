// Cancels a run from any thread, also before there is one: then it is cancelled as soon as it
// exists.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "swarmkv/engine.h"

namespace swarmkv::cli {

/// Thread-safe. The run must be detached before it dies.
class RunCanceller {
 public:
  /// `reason` is what the agents say that did not finish. The first one counts.
  void request(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (reason_) return;
    reason_ = reason;
    if (run_ != nullptr) run_->cancel(reason);
  }
  void attach(Run& run) {
    const std::lock_guard lock(mutex_);
    run_ = &run;
    if (reason_) run_->cancel(*reason_);
  }
  void detach() {
    const std::lock_guard lock(mutex_);
    run_ = nullptr;
  }
  [[nodiscard]] bool was_asked_to(const std::string& reason) const {
    const std::lock_guard lock(mutex_);
    return reason_ == reason;
  }

 private:
  mutable std::mutex mutex_;
  Run* run_ = nullptr;
  std::optional<std::string> reason_;
};

/// The run can be reached as long as this lives.
class Attached {
 public:
  Attached(RunCanceller& canceller, Run& run) : canceller_(canceller) { canceller_.attach(run); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached() { canceller_.detach(); }

 private:
  RunCanceller& canceller_;
};

}  // namespace swarmkv::cli
