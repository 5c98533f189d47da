// Runs on a machine of the test's making: its disk, its memory, its speed.
#pragma once

#include <memory>
#include <utility>

#include "api/prepare.h"
#include "api/run_impl.h"
#include "support/pipelines.h"

namespace swarmkv::testing {

/// What Engine is, but for what snapshots ask of the machine.
class HostedEngine {
 public:
  explicit HostedEngine(internal::SnapshotHost host, const EngineOptions& options = {},
                        const Model& model = fake_model())
      : impl_(model, options, std::move(host)) {}
  ~HostedEngine() { impl_.cancel_runs_and_wait(); }
  HostedEngine(const HostedEngine&) = delete;
  HostedEngine& operator=(const HostedEngine&) = delete;

  [[nodiscard]] Run run(const Pipeline& pipeline, const RunOptions& options) {
    return Run(std::make_unique<Run::Impl>(
        impl_, internal::prepare(impl_.model.impl().model, pipeline, options), options,
        std::chrono::steady_clock::now()));
  }

 private:
  Engine::Impl impl_;
};

/// A machine with this disk.
inline internal::SnapshotHost with_disk(const internal::SystemCalls& calls) {
  internal::SnapshotHost host;
  host.calls = &calls;
  return host;
}

}  // namespace swarmkv::testing
