#include "orchestrate/dag.h"

#include <algorithm>

#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

[[noreturn]] void invalid(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "[orchestrate.dag] " + what);
}

[[noreturn]] void bad_edge(NodeId node, NodeId need, const std::string& why) {
  invalid("node " + std::to_string(node) + " needs " + std::to_string(need) + ": " + why);
}

}  // namespace

const char* to_string(NodeState state) {
  static constexpr std::array<const char*, kNodeStates> kNames{
      "waiting", "ready", "running", "finished", "failed", "skipped", "cancelled"};
  return kNames[static_cast<std::size_t>(state)];
}

Dag::Dag(std::vector<std::vector<NodeId>> needs, std::vector<int> priorities,
         std::vector<std::vector<NodeId>> optional_needs)
    : needs_(std::move(needs)),
      dependents_(needs_.size()),
      optional_needs_(std::move(optional_needs)),
      priorities_(std::move(priorities)),
      states_(needs_.size(), NodeState::kWaiting),
      culprits_(needs_.size(), -1),
      n_open_needs_(needs_.size(), 0) {
  if (priorities_.empty()) priorities_.assign(needs_.size(), 0);
  if (priorities_.size() != needs_.size()) {
    invalid(std::to_string(needs_.size()) + " nodes, but " + std::to_string(priorities_.size()) +
            " priorities");
  }
  optional_needs_.resize(needs_.size());
  for (std::vector<NodeId>& optional : optional_needs_) std::sort(optional.begin(), optional.end());
  std::vector<NodeId> last_seen(needs_.size(), -1);
  for (NodeId node = 0; node < size(); ++node) {
    for (const NodeId need : needs_[index(node)]) {
      if (need < 0 || need >= size()) bad_edge(node, need, "there are " + std::to_string(size()));
      if (need == node) bad_edge(node, need, "itself");
      if (last_seen[index(need)] == node) bad_edge(node, need, "twice");
      last_seen[index(need)] = node;
      dependents_[index(need)].push_back(node);
    }
    for (const NodeId need : optional_needs_[index(node)]) {
      const bool is_need = need >= 0 && need < size() && last_seen[index(need)] == node;
      if (!is_need) bad_edge(node, need, "optionally, but does not list it");
    }
    n_open_needs_[index(node)] = static_cast<int>(needs_[index(node)].size());
  }
  sort_topologically();
  counts_[static_cast<std::size_t>(NodeState::kWaiting)] = size();
  for (NodeId node = 0; node < size(); ++node) {
    if (n_open_needs_[index(node)] == 0) set_state(node, NodeState::kReady);
  }
}

void Dag::sort_topologically() {
  std::vector<int> n_open = n_open_needs_;
  for (NodeId node = 0; node < size(); ++node) {
    if (n_open[index(node)] == 0) order_.push_back(node);
  }
  for (std::size_t head = 0; head < order_.size(); ++head) {
    for (const NodeId dependent : dependents_[index(order_[head])]) {
      if (--n_open[index(dependent)] == 0) order_.push_back(dependent);
    }
  }
  if (order_.size() == needs_.size()) return;
  const auto stuck = std::find_if(n_open.begin(), n_open.end(), [](int n) { return n > 0; });
  invalid("a circle keeps " + std::to_string(needs_.size() - order_.size()) + " of " +
          std::to_string(size()) + " nodes from ever starting, node " +
          std::to_string(stuck - n_open.begin()) + " first");
}

std::optional<NodeId> Dag::next_ready() const {
  if (ready_.empty()) return std::nullopt;
  return ready_.begin()->second;
}

void Dag::set_state(NodeId node, NodeState state) {
  NodeState& current = states_[index(node)];
  if (current == NodeState::kReady) ready_.erase(rank(node));
  if (state == NodeState::kReady) ready_.insert(rank(node));
  --counts_[static_cast<std::size_t>(current)];
  ++counts_[static_cast<std::size_t>(state)];
  current = state;
}

void Dag::expect(NodeId node, NodeState state, const char* operation) const {
  if (node < 0 || node >= size()) {
    invalid(std::string(operation) + ": node " + std::to_string(node) + " of " +
            std::to_string(size()));
  }
  if (states_[index(node)] == state) return;
  invalid(std::string(operation) + ": node " + std::to_string(node) + " is " +
          to_string(states_[index(node)]) + ", not " + to_string(state));
}

void Dag::start(NodeId node) {
  expect(node, NodeState::kReady, "start");
  set_state(node, NodeState::kRunning);
}

bool Dag::can_do_without(NodeId node, NodeId need) const {
  const std::vector<NodeId>& optional = optional_needs_[index(node)];
  return std::binary_search(optional.begin(), optional.end(), need);
}

void Dag::settle_need(NodeId dependent, Change& change) {
  const bool last = --n_open_needs_[index(dependent)] == 0;
  if (!last || states_[index(dependent)] != NodeState::kWaiting) return;
  set_state(dependent, NodeState::kReady);
  change.ready.push_back(dependent);
}

Dag::Change Dag::finish(NodeId node, bool ok) {
  expect(node, NodeState::kRunning, "finish");
  Change change;
  set_state(node, ok ? NodeState::kFinished : NodeState::kFailed);
  if (ok) {
    for (const NodeId dependent : dependents_[index(node)]) settle_need(dependent, change);
  } else {
    skip_dependents(node, change);
  }
  std::sort(change.ready.begin(), change.ready.end(),
            [this](NodeId a, NodeId b) { return rank(a) < rank(b); });
  return change;
}

Dag::Change Dag::cancel(NodeId node) {
  expect(node, NodeState::kRunning, "cancel");
  Change change;
  set_state(node, NodeState::kCancelled);
  skip_dependents(node, change);
  std::sort(change.ready.begin(), change.ready.end(),
            [this](NodeId a, NodeId b) { return rank(a) < rank(b); });
  return change;
}

// Breadth first over those that still wait; whoever was skipped before keeps its first culprit.
void Dag::skip_dependents(NodeId culprit, Change& change) {
  std::vector<NodeId> queue{culprit};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (const NodeId dependent : dependents_[index(queue[head])]) {
      if (can_do_without(dependent, queue[head])) {
        settle_need(dependent, change);
        continue;
      }
      if (states_[index(dependent)] != NodeState::kWaiting) continue;
      set_state(dependent, NodeState::kSkipped);
      culprits_[index(dependent)] = culprit;
      change.skipped.push_back({dependent, culprit});
      queue.push_back(dependent);
    }
  }
}

std::vector<NodeId> Dag::cancel_pending() {
  std::vector<NodeId> cancelled;
  for (NodeId node = 0; node < size(); ++node) {
    const NodeState state = states_[index(node)];
    if (state != NodeState::kWaiting && state != NodeState::kReady) continue;
    set_state(node, NodeState::kCancelled);
    cancelled.push_back(node);
  }
  for (const NodeId node : cancelled) {
    for (const NodeId dependent : dependents_[index(node)]) {
      n_open_needs_[index(dependent)] -= can_do_without(dependent, node) ? 1 : 0;
    }
  }
  return cancelled;
}

std::optional<NodeId> Dag::culprit(NodeId node) const {
  const NodeId culprit = culprits_[index(node)];
  return culprit < 0 ? std::nullopt : std::optional(culprit);
}

bool Dag::done() const {
  return count(NodeState::kWaiting) + count(NodeState::kReady) + count(NodeState::kRunning) == 0;
}

}  // namespace swarmkv::internal
