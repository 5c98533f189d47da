#include "orchestrate/orchestrator.h"

#include <exception>
#include <map>
#include <memory>
#include <utility>

#include "base/deadline.h"
#include "orchestrate/outcome_queue.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

std::size_t at(NodeId node) { return static_cast<std::size_t>(node); }

Dag make_dag(const std::vector<OrchestratorNode>& nodes) {
  std::vector<std::vector<NodeId>> needs;
  std::vector<std::vector<NodeId>> optional_needs;
  std::vector<int> priorities;
  for (const OrchestratorNode& node : nodes) {
    needs.push_back(node.needs);
    optional_needs.push_back(node.optional_needs);
    priorities.push_back(node.priority);
  }
  return Dag(std::move(needs), std::move(priorities), std::move(optional_needs));
}

NodeOutcome failure(const std::string& what) {
  NodeOutcome outcome;
  outcome.error = what;
  return outcome;
}

}  // namespace

Orchestrator::Orchestrator(std::vector<OrchestratorNode> nodes, NodeRunner& runner,
                           OrchestratorOptions options, OrchestratorListener* listener)
    : nodes_(std::move(nodes)),
      runner_(runner),
      options_(options),
      listener_(listener),
      dag_(make_dag(nodes_)),
      queue_(std::make_shared<OutcomeQueue>()) {
  if (options_.timeout.count() < 0) {
    throw Error(ErrorCode::kInvalidArgument, "[orchestrate.run] negative timeout: " +
                                                 std::to_string(options_.timeout.count()) + " ms");
  }
  result_.nodes.resize(nodes_.size());
}

Orchestrator::~Orchestrator() = default;

void Orchestrator::cancel(std::string reason) { queue_->request_cancel(std::move(reason)); }

OrchestratorResult Orchestrator::run() {
  if (options_.timeout.count() > 0) {
    deadline_ = deadline_after(std::chrono::steady_clock::now(), options_.timeout);
  }
  constexpr int kMostTogether = 64;  // the rest need not hold up the document
  std::shared_ptr<const void> together;
  int n_together = 0;
  while (!dag_.done()) {
    process_outcomes();
    check_stop_requests();
    // One start a turn: an outcome that came meanwhile may have unlocked something more urgent.
    if (dag_.next_ready()) {
      if (n_together++ % kMostTogether == 0) {
        together.reset();
        together = runner_.gather();
      }
      start_next();
    } else if (!dag_.done()) {
      together.reset();
      n_together = 0;
      queue_->wait(stop_ == Stop::kNone ? deadline_ : std::nullopt);
    }
  }
  together.reset();
  for (NodeId node = 0; node < dag_.size(); ++node) {
    result_.nodes[at(node)].state = dag_.state(node);
    result_.nodes[at(node)].culprit = dag_.culprit(node);
  }
  return std::move(result_);
}

void Orchestrator::start_next() {
  const NodeId node = *dag_.next_ready();
  std::map<std::string, std::string> answers;
  for (const NodeId need : nodes_[at(node)].needs) {
    if (dag_.state(need) != NodeState::kFinished) continue;  // an optional one
    answers.emplace(nodes_[at(need)].name, result_.nodes[at(need)].outcome.answer);
  }
  dag_.start(node);
  tell([&](OrchestratorListener& listener) { listener.on_started(node); });
  NodeRunner::Done done = make_done(queue_, node);
  try {
    runner_.start(node, answers, done);
  } catch (const std::exception& error) {
    done(node, failure(std::string("[orchestrate.start] ") + error.what()));
  } catch (...) {
    done(node, failure("[orchestrate.start] unknown exception"));
  }
}

void Orchestrator::process_outcomes() {
  for (OutcomeQueue::Entry& entry : queue_->take()) apply(entry.node, std::move(entry.outcome));
}

void Orchestrator::apply(NodeId node, NodeOutcome outcome) {
  if (node < 0 || node >= dag_.size() || dag_.state(node) != NodeState::kRunning) return;
  NodeOutcome& kept = result_.nodes[at(node)].outcome;
  kept = std::move(outcome);
  Dag::Change change;
  switch (kept.status) {
    case NodeOutcome::Status::kFinished:
      change = dag_.finish(node, true);
      tell([&](OrchestratorListener& listener) { listener.on_finished(node, kept); });
      break;
    case NodeOutcome::Status::kFailed:
      change = dag_.finish(node, false);
      tell([&](OrchestratorListener& listener) { listener.on_failed(node, kept); });
      break;
    case NodeOutcome::Status::kCancelled:
      // Why the run stopped says more than what the runner knows.
      if (stop_ != Stop::kNone) {
        kept.error = stop_message_;
      } else if (kept.error.empty()) {
        kept.error = "cancelled";
      }
      kept.error_code = ErrorCode::kCancelled;
      change = dag_.cancel(node);
      tell([&](OrchestratorListener& listener) { listener.on_cancelled(node, kept); });
      break;
  }
  mark_skipped(change.skipped);
  if (kept.status == NodeOutcome::Status::kFailed && options_.fail_fast && !dag_.done()) {
    stop(Stop::kFailFast, "stopped: '" + nodes_[at(node)].name + "' failed and fail-fast is on");
  }
}

void Orchestrator::mark_skipped(const std::vector<Dag::Skipped>& skipped) {
  for (const Dag::Skipped& skip : skipped) {
    const bool failed = dag_.state(skip.culprit) == NodeState::kFailed;
    NodeOutcome& outcome = result_.nodes[at(skip.node)].outcome;
    outcome.status = NodeOutcome::Status::kCancelled;
    outcome.error_code = ErrorCode::kCancelled;
    outcome.error = "skipped because '" + nodes_[at(skip.culprit)].name + "' " +
                    (failed ? "failed" : "was cancelled");
    tell([&](OrchestratorListener& listener) { listener.on_skipped(skip.node, skip.culprit); });
  }
}

void Orchestrator::check_stop_requests() {
  if (dag_.done()) return;
  if (const auto reason = queue_->take_cancel_request()) stop(Stop::kCancel, *reason);
  if (stop_ == Stop::kNone && deadline_ && std::chrono::steady_clock::now() >= *deadline_) {
    stop(Stop::kTimeout,
         "stopped: the run's limit of " + std::to_string(options_.timeout.count()) + " ms is over");
  }
}

// Only the first reason counts; running nodes are asked to stop and reported when they have.
void Orchestrator::stop(Stop reason, const std::string& message) {
  if (stop_ != Stop::kNone) return;
  stop_ = reason;
  stop_message_ = message;
  result_.cancelled = reason == Stop::kCancel;
  result_.timed_out = reason == Stop::kTimeout;
  result_.failed_fast = reason == Stop::kFailFast;
  for (const NodeId node : dag_.cancel_pending()) {
    NodeOutcome& outcome = result_.nodes[at(node)].outcome;
    outcome = stop_outcome();
    tell([&](OrchestratorListener& listener) { listener.on_cancelled(node, outcome); });
  }
  for (NodeId node = 0; node < dag_.size(); ++node) {
    if (dag_.state(node) == NodeState::kRunning) runner_.cancel(node);
  }
}

NodeOutcome Orchestrator::stop_outcome() const {
  NodeOutcome outcome;
  outcome.status = NodeOutcome::Status::kCancelled;
  outcome.error_code = ErrorCode::kCancelled;
  outcome.error = stop_message_;
  return outcome;
}

template <typename Call>
void Orchestrator::tell(Call call) {
  if (listener_ == nullptr) return;
  try {
    call(*listener_);
  } catch (...) {
    listener_ = nullptr;
    result_.listener_failed = true;
  }
}

}  // namespace swarmkv::internal
