// Cancels a run from any thread, also before there is one: then it is cancelled as soon as it
// exists.
#pragma once

#include <mutex>

#include "swarmkv/engine.h"

namespace swarmkv::cli {

/// Thread-safe. The run must be detached before it dies.
class RunCanceller {
 public:
  void request() {
    const std::lock_guard lock(mutex_);
    requested_ = true;
    if (run_ != nullptr) run_->cancel();
  }
  void attach(Run& run) {
    const std::lock_guard lock(mutex_);
    run_ = &run;
    if (requested_) run_->cancel();
  }
  void detach() {
    const std::lock_guard lock(mutex_);
    run_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Run* run_ = nullptr;
  bool requested_ = false;
};

}  // namespace swarmkv::cli
