// The state of a run's graph and nothing else: no threads, no I/O, no models.
//
//        /-> b --\         needs: a {}   b {a}   c {a}   d {b, c}
//     a -|        |-> d
//        \-> c --/         a finishes: b, c become ready.  b fails: d is skipped because of b; c
//        goes on.
//
// A need is settled when it is finished, failed, skipped or cancelled. An optional one is waited
// for as well, but its end, whatever it is, is good enough.
//
// Invariants, checked by check_integrity():
//
//  1. A node is ready, running or finished only if its needs are finished, optional ones settled.
//
//  2. A node is waiting only if no need that it cannot do without failed, was skipped or cancelled,
//     and some needs are not settled.
//
//  3. A skipped node names a failed or cancelled ancestor.
//
//  4. The counts are those of the states, and every ready node stands in the queue.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "orchestrate/node_runner.h"

namespace swarmkv::internal {

enum class NodeState { kWaiting, kReady, kRunning, kFinished, kFailed, kSkipped, kCancelled };
inline constexpr std::size_t kNodeStates = 7;

const char* to_string(NodeState state);

/// Const calls may overlap, others need a lock. Every operation is iterative; a whole run costs
/// O(nodes + needs) and a logarithm for each entry of the ready queue.
class Dag {
 public:
  /// `needs[n]`: the nodes n waits for. `priorities`: by node, higher first; may be empty.
  /// `optional_needs[n]`: of needs[n], those it can do without; may be empty.
  /// errors  kInvalidArgument  a need out of range, given twice or the node itself; an optional one
  /// that is no need; a circle; sizes differ
  explicit Dag(std::vector<std::vector<NodeId>> needs, std::vector<int> priorities = {},
               std::vector<std::vector<NodeId>> optional_needs = {});

  struct Skipped {
    NodeId node;
    NodeId culprit;  ///< the failed or cancelled ancestor that was heard of first
  };
  /// What one event changed besides the node itself.
  struct Change {
    std::vector<NodeId> ready;     ///< by priority, then declaration; also after a failure
    std::vector<Skipped> skipped;  ///< nearest dependents first
  };

  /// The ready node to start next: by priority, then declaration.
  [[nodiscard]] std::optional<NodeId> next_ready() const;
  void start(NodeId node);              ///< ready -> running
  Change finish(NodeId node, bool ok);  ///< running -> finished or failed
  Change cancel(NodeId node);           ///< running -> cancelled; its dependents are skipped
  std::vector<NodeId>
  cancel_pending();  ///< every waiting or ready node -> cancelled; answers which, ascending

  [[nodiscard]] int size() const { return static_cast<int>(needs_.size()); }
  [[nodiscard]] NodeState state(NodeId node) const { return states_[index(node)]; }
  [[nodiscard]] std::optional<NodeId> culprit(NodeId node) const;  ///< of a skipped node
  [[nodiscard]] const std::vector<NodeId>& needs(NodeId node) const { return needs_[index(node)]; }
  [[nodiscard]] int count(NodeState state) const {
    return counts_[static_cast<std::size_t>(state)];
  }
  /// Nothing is waiting, ready or running.
  [[nodiscard]] bool done() const;

  /// The chain of needs whose durations have the largest sum, first node first. Negative durations
  /// and missing ones count as 0; of equal chains the one declared first.
  [[nodiscard]] std::vector<NodeId> critical_path(std::span<const double> durations) const;

  /// "" or the first invariant found broken.
  [[nodiscard]] std::string check_integrity() const;

 private:
  static std::size_t index(NodeId node) { return static_cast<std::size_t>(node); }
  [[nodiscard]] std::pair<std::int64_t, NodeId> rank(NodeId node) const {
    return {-static_cast<std::int64_t>(priorities_[index(node)]), node};
  }
  void set_state(NodeId node, NodeState state);
  void expect(NodeId node, NodeState state, const char* operation) const;
  void sort_topologically();
  [[nodiscard]] bool can_do_without(NodeId node, NodeId need) const;
  void settle_need(NodeId dependent, Change& change);
  void skip_dependents(NodeId culprit, Change& change);

  std::vector<std::vector<NodeId>> needs_, dependents_;
  std::vector<std::vector<NodeId>> optional_needs_;  // sorted
  std::vector<int> priorities_;
  std::vector<NodeId> order_;  // needs before their dependents
  std::vector<NodeState> states_;
  std::vector<NodeId> culprits_;                     // -1 = none
  std::vector<int> n_open_needs_;                    // needs that are not settled
  std::set<std::pair<std::int64_t, NodeId>> ready_;  // rank(): the first is the next to start
  std::array<int, kNodeStates> counts_{};
};

}  // namespace swarmkv::internal
