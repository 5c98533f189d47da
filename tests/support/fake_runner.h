// Node runners for tests: at once, by hand, or from several threads in random order.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orchestrate/node_runner.h"

namespace swarmkv::testing {

using internal::NodeId;
using internal::NodeOutcome;
using internal::NodeRunner;
using NodeAnswers = std::map<std::string, std::string>;

inline NodeOutcome finished(std::string answer) {
  NodeOutcome outcome;
  outcome.status = NodeOutcome::Status::kFinished;
  outcome.answer = std::move(answer);
  return outcome;
}

inline NodeOutcome failed(std::string error, ErrorCode code = ErrorCode::kInternal) {
  NodeOutcome outcome;
  outcome.error = std::move(error);
  outcome.error_code = code;
  return outcome;
}

inline NodeOutcome cancelled() {
  NodeOutcome outcome;
  outcome.status = NodeOutcome::Status::kCancelled;
  return outcome;
}

/// Answers inside start().
class InstantRunner final : public NodeRunner {
 public:
  using Compute = std::function<NodeOutcome(NodeId, const NodeAnswers&)>;
  explicit InstantRunner(Compute compute) : compute_(std::move(compute)) {}

  void start(NodeId node, const NodeAnswers& answers, Done done) override {
    started.push_back(node);
    done(node, compute_(node, answers));
  }
  void cancel(NodeId node) override { cancels.push_back(node); }

  std::vector<NodeId> started, cancels;

 private:
  Compute compute_;
};

/// Keeps every `done`; `on_start` and `on_cancel` (both on the orchestrator's thread) decide what
/// happens.
class ManualRunner final : public NodeRunner {
 public:
  void start(NodeId node, const NodeAnswers& answers, Done done) override {
    dones[node] = std::move(done);
    given[node] = answers;
    if (on_start) on_start(node);
  }
  void cancel(NodeId node) override {
    cancels.push_back(node);
    if (on_cancel) on_cancel(node);
  }

  std::function<void(NodeId)> on_start, on_cancel;
  std::map<NodeId, Done> dones;
  std::map<NodeId, NodeAnswers> given;
  std::vector<NodeId> cancels;
};

/// Several threads that take waiting nodes in random order. A cancelled node that nobody took yet
/// ends as cancelled.
class ThreadedRunner final : public NodeRunner {
 public:
  using Compute = std::function<NodeOutcome(NodeId, const NodeAnswers&)>;

  ThreadedRunner(int n_threads, unsigned seed, Compute compute)
      : compute_(std::move(compute)), random_(seed) {
    for (int i = 0; i < n_threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~ThreadedRunner() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void start(NodeId node, const NodeAnswers& answers, Done done) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back({node, answers, std::move(done), false});
    changed_.notify_one();
  }
  void cancel(NodeId node) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Job& job : waiting_) job.cancelled = job.cancelled || job.node == node;
  }

 private:
  struct Job {
    NodeId node;
    NodeAnswers answers;
    Done done;
    bool cancelled;
  };

  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      std::swap(waiting_[random_() % waiting_.size()], waiting_.back());
      const Job job = std::move(waiting_.back());
      waiting_.pop_back();
      lock.unlock();
      NodeOutcome outcome = job.cancelled ? cancelled() : compute_(job.node, job.answers);
      job.done(job.node, outcome);
      job.done(job.node, failed("a second call that must be ignored"));
      lock.lock();
    }
  }

  Compute compute_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Job> waiting_;
  std::mt19937 random_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace swarmkv::testing
