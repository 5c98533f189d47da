// Runs a graph of nodes over a NodeRunner: starts what is ready, hands answers on, decides what a
// failure means. Knows nothing about models, prompts or reports.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrate/dag.h"
#include "orchestrate/node_runner.h"

namespace swarmkv::internal {

class OutcomeQueue;

struct OrchestratorNode {
  std::string name;
  std::vector<NodeId> needs;
  int priority = 0;                      ///< higher starts earlier
  std::vector<NodeId> optional_needs{};  ///< of `needs`, those that it waits for but can do without
};

struct OrchestratorOptions {
  bool fail_fast = false;                ///< the first failure cancels the rest
  std::chrono::milliseconds timeout{0};  ///< of the whole run; 0 = none
};

/// Hears what happens to every node: on_started for those that start, then exactly one of the
/// others for every node. Called on run()'s thread, one at a time, no lock held. One that throws is
/// not called again.
class OrchestratorListener {
 public:
  virtual ~OrchestratorListener() = default;
  virtual void on_started(NodeId) {}
  virtual void on_finished(NodeId, const NodeOutcome&) {}
  virtual void on_failed(NodeId, const NodeOutcome&) {}
  virtual void on_skipped(NodeId, NodeId /*culprit*/) {}
  virtual void on_cancelled(NodeId, const NodeOutcome&) {}
};

struct NodeResult {
  NodeState state =
      NodeState::kWaiting;  ///< finished, failed, skipped or cancelled once run() has returned
  /// answer of a finished node; code and message of the others (a skipped node's message names the
  /// culprit)
  NodeOutcome outcome;
  std::optional<NodeId> culprit;  ///< of a skipped node
};

struct OrchestratorResult {
  std::vector<NodeResult> nodes;  ///< by id
  bool cancelled = false;         ///< cancel() came before everything was done
  bool timed_out = false;
  bool failed_fast = false;
  bool listener_failed = false;  ///< it threw and was not called again
};

/// One run. run() once, on one thread; cancel() from any thread.
class Orchestrator {
 public:
  /// `runner` and `listener` (may be null) must outlive run().
  /// errors  kInvalidArgument  from Dag, a negative timeout
  Orchestrator(std::vector<OrchestratorNode> nodes, NodeRunner& runner,
               OrchestratorOptions options = {}, OrchestratorListener* listener = nullptr);
  ~Orchestrator();
  Orchestrator(const Orchestrator&) = delete;
  Orchestrator& operator=(const Orchestrator&) = delete;

  /// Blocks until every node has a final state. A node that runs when the run is cancelled is
  /// cancelled at its runner and waited for: what it answers (it may still finish) counts. Never
  /// recurses: a runner may call `done` inside start(). A second `done` for a node is ignored, a
  /// dropped one is a failure.
  OrchestratorResult run();

  /// Stops what is unfinished, whose error will be `reason`. Before run() it makes run() start
  /// nothing. Thread-safe, does not wait.
  void cancel(std::string reason = "cancelled");

 private:
  enum class Stop { kNone, kCancel, kTimeout, kFailFast };

  void start_next();
  void process_outcomes();
  void apply(NodeId node, NodeOutcome outcome);
  void check_stop_requests();
  void stop(Stop reason, const std::string& message);
  void mark_skipped(const std::vector<Dag::Skipped>& skipped);
  [[nodiscard]] NodeOutcome stop_outcome() const;
  template <typename Call>
  void tell(Call call);

  std::vector<OrchestratorNode> nodes_;
  NodeRunner& runner_;
  OrchestratorOptions options_;
  OrchestratorListener* listener_;
  Dag dag_;
  std::shared_ptr<OutcomeQueue> queue_;
  OrchestratorResult result_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  Stop stop_ = Stop::kNone;
  std::string stop_message_;
};

}  // namespace swarmkv::internal
