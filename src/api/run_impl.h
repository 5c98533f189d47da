// One pipeline in progress: a thread that runs the orchestrator and then builds the report.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "api/agent_runner.h"
#include "api/engine_impl.h"
#include "api/event_bus.h"
#include "api/prepare.h"
#include "api/snapshot_use.h"
#include "orchestrate/orchestrator.h"

namespace swarmkv {

struct Run::Impl final : internal::OrchestratorListener {
  /// errors  as Engine::run; nothing has started then
  Impl(Engine::Impl& engine, std::shared_ptr<const internal::Prepared> prepared,
       const RunOptions& options, TimePoint clock_zero);
  ~Impl() override;  ///< cancels, joins, and so waits for the last event
  /// Destroys it; for an observer of its own, who would wait for himself, the engine does it later.
  static void drop(std::unique_ptr<Impl> run);

  void cancel(std::string reason);
  RunReport wait();
  bool wait_for(std::chrono::milliseconds limit);

 private:
  void execute();
  RunReport finish(const internal::OrchestratorResult& outcome,
                   const internal::SchedulerStats& before);
  void complete(RunReport report);
  void send(EventType type, internal::NodeId node, const internal::NodeOutcome& outcome);
  void on_finished(internal::NodeId node, const internal::NodeOutcome& outcome) override;
  void on_failed(internal::NodeId node, const internal::NodeOutcome& outcome) override;
  void on_skipped(internal::NodeId node, internal::NodeId culprit) override;
  void on_cancelled(internal::NodeId node, const internal::NodeOutcome& outcome) override;

  Engine::Impl& engine_;
  const std::shared_ptr<const internal::Prepared> prepared_;
  const Pipeline& pipeline_;
  const RunOptions options_;
  const TimePoint clock_zero_;
  const std::string started_at_;
  std::vector<std::vector<internal::NodeId>> needs_;
  std::shared_ptr<internal::EventBus> bus_;
  std::unique_ptr<internal::AgentRunner> runner_;
  std::unique_ptr<internal::SnapshotUse> snapshots_;
  std::unique_ptr<internal::Orchestrator> orchestrator_;

  internal::Mutex mutex_;
  internal::ConditionVariable completed_;
  bool done_ GUARDED_BY(mutex_) = false;
  RunReport report_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace swarmkv
