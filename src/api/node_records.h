// What is known of a run's nodes: written as it happens by whatever computes them, read by the
// report.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "orchestrate/node_runner.h"

namespace swarmkv::internal {

struct NodeRecord {
  std::shared_ptr<const Result> result;        ///< agents that were submitted; else null
  std::optional<TimePoint> started, finished;  ///< functions
  std::vector<TimePoint> preempted;            ///< agents that had to give up their cells
};

/// Thread-safe. Shared with everybody who writes, so it outlives the run.
class NodeRecords {
 public:
  explicit NodeRecords(std::size_t n_nodes) : records_(n_nodes) {}

  [[nodiscard]] NodeRecord of(NodeId node) const {
    const MutexLock lock(mutex_);
    return records_[static_cast<std::size_t>(node)];
  }

  template <typename Change>
  void change(NodeId node, Change change) {
    const MutexLock lock(mutex_);
    change(records_[static_cast<std::size_t>(node)]);
  }

 private:
  mutable Mutex mutex_;
  std::vector<NodeRecord> records_ GUARDED_BY(mutex_);
};

}  // namespace swarmkv::internal
