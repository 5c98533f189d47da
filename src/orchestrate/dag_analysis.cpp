// The parts of Dag that only look.
#include <algorithm>
#include <array>

#include "orchestrate/dag.h"

namespace swarmkv::internal {

std::vector<NodeId> Dag::critical_path(std::span<const double> durations) const {
  std::vector<double> sums(needs_.size(), 0.0);
  std::vector<NodeId> before(needs_.size(), -1);
  for (const NodeId node : order_) {
    double longest = 0.0;
    for (const NodeId need : needs_[index(node)]) {
      const double sum = sums[index(need)];
      const NodeId best = before[index(node)];
      if (best >= 0 && (sum < longest || (sum == longest && need > best))) continue;
      longest = sum;
      before[index(node)] = need;
    }
    const double own = index(node) < durations.size() ? durations[index(node)] : 0.0;
    sums[index(node)] = longest + std::max(0.0, own);
  }
  std::vector<NodeId> path;
  if (sums.empty()) return path;
  const auto end = std::max_element(sums.begin(), sums.end());
  for (auto node = static_cast<NodeId>(end - sums.begin()); node >= 0; node = before[index(node)]) {
    path.push_back(node);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::string Dag::check_integrity() const {
  std::array<int, kNodeStates> counts{};
  for (NodeId node = 0; node < size(); ++node) {
    const NodeState state = states_[index(node)];
    const std::string label = "node " + std::to_string(node) + " is " + to_string(state);
    ++counts[static_cast<std::size_t>(state)];
    int n_open = 0;
    int n_dead = 0;  // failed, skipped or cancelled needs that it cannot do without
    for (const NodeId need : needs_[index(node)]) {
      const NodeState need_state = states_[index(need)];
      const bool is_dead = need_state == NodeState::kFailed || need_state == NodeState::kSkipped ||
                           need_state == NodeState::kCancelled;
      if (is_dead && can_do_without(node, need)) continue;
      n_open += need_state != NodeState::kFinished ? 1 : 0;
      n_dead += is_dead ? 1 : 0;
    }
    if (n_open != n_open_needs_[index(node)]) {
      return label + " and counts " + std::to_string(n_open_needs_[index(node)]) +
             " open needs, it has " + std::to_string(n_open);
    }
    const bool may_run = state == NodeState::kReady || state == NodeState::kRunning ||
                         state == NodeState::kFinished || state == NodeState::kFailed;
    if (may_run && n_open > 0) return label + " with " + std::to_string(n_open) + " open needs";
    if (state == NodeState::kWaiting && n_open == 0) return label + " for nothing";
    if (state == NodeState::kWaiting && n_dead > 0) return label + " for a dead need";
    if ((state == NodeState::kSkipped) != (culprits_[index(node)] >= 0)) {
      return label + " and its culprit is " + std::to_string(culprits_[index(node)]);
    }
    if (state == NodeState::kSkipped) {
      const NodeState cause = states_[index(culprits_[index(node)])];
      if (cause != NodeState::kFailed && cause != NodeState::kCancelled) {
        return label + " because of a node that is " + to_string(cause);
      }
    }
    const bool queued = ready_.count(rank(node)) > 0;
    if (queued != (state == NodeState::kReady)) return label + ", the ready queue disagrees";
  }
  return counts == counts_ ? "" : "the counts are not those of the states";
}

}  // namespace swarmkv::internal
