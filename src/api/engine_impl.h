#pragma once

#include <memory>
#include <set>

#include "api/model_impl.h"
#include "api/snapshot_host.h"
#include "api/snapshot_writer.h"
#include "base/mutex.h"
#include "orchestrate/function_pool.h"
#include "schedule/request_runner.h"
#include "swarmkv/engine.h"

namespace swarmkv {

struct Engine::Impl {
  Impl(const Model& m, const EngineOptions& o, internal::SnapshotHost host = {});

  /// Runs in progress, so that the engine's end can stop them. Thread-safe.
  void enter(Run::Impl* run);
  void leave(Run::Impl* run);
  void cancel_runs_and_wait();

  Model model;
  EngineOptions options;
  const internal::SnapshotHost snapshot_host;
  /// Before the runner: the engine's thread hands states to it.
  internal::SnapshotWriter snapshot_writer;
  std::unique_ptr<internal::RequestRunner> runner;
  internal::FunctionPool pool;

 private:
  internal::Mutex mutex_;
  internal::ConditionVariable changed_;
  std::set<Run::Impl*> runs_ GUARDED_BY(mutex_);
};

}  // namespace swarmkv
