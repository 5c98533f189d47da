#pragma once

#include <memory>
#include <set>
#include <vector>

#include "api/model_impl.h"
#include "api/snapshot_host.h"
#include "api/snapshot_writer.h"
#include "api/text_call.h"
#include "base/mutex.h"
#include "orchestrate/function_pool.h"
#include "schedule/request_runner.h"
#include "swarmkv/engine.h"

namespace swarmkv {

struct Engine::Impl {
  Impl(const Model& m, const EngineOptions& o, internal::SnapshotHost host = {});
  ~Impl();

  /// Runs in progress, so that the engine's end can stop them. Thread-safe.
  void enter(Run::Impl* run);
  void leave(Run::Impl* run);
  void cancel_runs_and_wait();
  /// A cancelled run that nobody has a handle of any more.
  void keep_until_over(std::unique_ptr<Run::Impl> run);

  Model model;
  EngineOptions options;
  const internal::SnapshotHost snapshot_host;
  /// These before the runner, whose threads hand states and text to them.
  internal::SnapshotWriter snapshot_writer;
  internal::TextThread text_thread;
  std::unique_ptr<internal::RequestRunner> runner;
  internal::FunctionPool pool;

 private:
  internal::Mutex mutex_;
  internal::ConditionVariable changed_;
  std::set<Run::Impl*> runs_ GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Run::Impl>> dropped_ GUARDED_BY(mutex_);
};

}  // namespace swarmkv
