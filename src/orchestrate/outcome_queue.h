// Carries outcomes from any thread to the orchestrator's.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "orchestrate/node_runner.h"

namespace swarmkv::internal {

/// Thread-safe. Shared between the orchestrator and every `done` it handed out, so a late `done`
/// finds a living queue, whatever became of the orchestrator.
class OutcomeQueue {
 public:
  struct Entry {
    NodeId node;
    NodeOutcome outcome;
  };
  using Clock = std::chrono::steady_clock;

  void push(NodeId node, NodeOutcome outcome);
  /// From now on wait() returns at once, also without outcomes, until the request is taken.
  void request_cancel(std::string reason);
  /// The first reason, once for any number of requests.
  std::optional<std::string> take_cancel_request();
  /// Everything pushed so far, oldest first. Never waits.
  std::vector<Entry> take();
  /// Waits for an outcome, a cancel request or the deadline.
  void wait(std::optional<Clock::time_point> deadline);

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  std::vector<Entry> entries_ GUARDED_BY(mutex_);
  std::optional<std::string> cancel_reason_ GUARDED_BY(mutex_);
};

/// The `done` of one start(): posts to the queue. If every copy is dropped without a call, it posts
/// a failure, so a runner that loses a node cannot hang the run.
NodeRunner::Done make_done(std::shared_ptr<OutcomeQueue> queue, NodeId node);

}  // namespace swarmkv::internal
