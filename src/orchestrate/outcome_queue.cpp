#include "orchestrate/outcome_queue.h"

#include <atomic>
#include <utility>

namespace swarmkv::internal {
namespace {

// Held by all copies of one `done`.
class DoneGuard {
 public:
  DoneGuard(std::shared_ptr<OutcomeQueue> queue, NodeId node)
      : queue_(std::move(queue)), node_(node) {}
  DoneGuard(const DoneGuard&) = delete;
  DoneGuard& operator=(const DoneGuard&) = delete;
  ~DoneGuard() {
    if (called_) return;
    NodeOutcome lost;
    lost.error = "[orchestrate.run] the node's runner dropped it without an outcome";
    queue_->push(node_, std::move(lost));
  }

  void call(NodeId node, NodeOutcome outcome) {
    if (called_.exchange(true)) return;
    queue_->push(node, std::move(outcome));
  }

 private:
  std::shared_ptr<OutcomeQueue> queue_;
  NodeId node_;
  std::atomic<bool> called_{false};
};

}  // namespace

void OutcomeQueue::push(NodeId node, NodeOutcome outcome) {
  const MutexLock lock(mutex_);
  entries_.push_back({node, std::move(outcome)});
  changed_.notify_one();
}

void OutcomeQueue::request_cancel(std::string reason) {
  const MutexLock lock(mutex_);
  if (!cancel_reason_) cancel_reason_ = std::move(reason);
  changed_.notify_one();
}

std::optional<std::string> OutcomeQueue::take_cancel_request() {
  const MutexLock lock(mutex_);
  return std::exchange(cancel_reason_, std::nullopt);
}

std::vector<OutcomeQueue::Entry> OutcomeQueue::take() {
  const MutexLock lock(mutex_);
  return std::exchange(entries_, {});
}

void OutcomeQueue::wait(std::optional<Clock::time_point> deadline) {
  const MutexLock lock(mutex_);
  while (entries_.empty() && !cancel_reason_) {
    if (!deadline) {
      changed_.wait(mutex_);
    } else if (changed_.wait_until(mutex_, *deadline) == std::cv_status::timeout) {
      return;
    }
  }
}

NodeRunner::Done make_done(std::shared_ptr<OutcomeQueue> queue, NodeId node) {
  auto guard = std::make_shared<DoneGuard>(std::move(queue), node);
  return [guard](NodeId id, NodeOutcome outcome) { guard->call(id, std::move(outcome)); };
}

}  // namespace swarmkv::internal
