// The seam between the orchestrator and whatever computes a node: it knows nothing about models.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "swarmkv/request.h"

namespace swarmkv::internal {

using NodeId = int;

/// What became of a node; failure is data.
struct NodeOutcome {
  enum class Status { kFinished, kFailed, kCancelled } status = Status::kFailed;
  std::string answer;
  ErrorCode error_code = ErrorCode::kInternal;
  std::string error;
};

/// Runs nodes asynchronously. `done` is called exactly once per start(), from any thread, possibly
/// before start() returns; it never blocks. start() and cancel() are called on the orchestrator's
/// thread only and must not block; start() reports its own failures through `done`, it does not
/// throw.
class NodeRunner {
 public:
  using Done = std::function<void(NodeId, NodeOutcome)>;
  virtual ~NodeRunner() = default;
  /// `answers`: of the node's needs that have finished, by name; only optional ones may lack.
  virtual void start(NodeId node, const std::map<std::string, std::string>& answers, Done done) = 0;
  virtual void cancel(NodeId node) = 0;
  /// What is started until the answer is dropped may begin together.
  [[nodiscard]] virtual std::shared_ptr<const void> gather() { return {}; }
};

}  // namespace swarmkv::internal
