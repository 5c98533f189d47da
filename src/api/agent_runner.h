// Runs a pipeline's nodes: agents as requests, functions on the pool.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "api/event_bus.h"
#include "api/node_records.h"
#include "api/prepare.h"
#include "orchestrate/function_pool.h"
#include "orchestrate/node_runner.h"
#include "schedule/request_runner.h"

namespace swarmkv::internal {

class AgentRunner final : public NodeRunner {
 public:
  AgentRunner(const Prepared& prepared, RequestRunner& requests, FunctionPool& pool,
              std::shared_ptr<EventBus> bus);

  void start(NodeId node, const Answers& answers, Done done) override;
  [[nodiscard]] std::shared_ptr<const void> gather() override { return requests_.gather(); }
  void cancel(NodeId node) override;

  /// After the orchestrator is done.
  [[nodiscard]] NodeRecord record(NodeId node) const;

  /// The node is finished, failed, skipped or cancelled. On the orchestrator's thread.
  void settled(NodeId node);

 private:
  /// What stands before an answer, for those that continue it.
  struct Asked {
    Tokens suffix;
    std::vector<int> fork_points;
  };

  [[nodiscard]] Request request_of(NodeId node, const Answers& answers) const;
  void add_question(Request& request, NodeId node, const Answers& answers) const;
  void start_function(NodeId node, const Answers& answers, Done done);

  const Prepared& prepared_;
  const Pipeline& pipeline_;  ///< the prepared one
  RequestRunner& requests_;
  FunctionPool& pool_;
  std::shared_ptr<EventBus> bus_;
  std::shared_ptr<NodeRecords> records_;
  std::map<NodeId, std::shared_ptr<RequestTicket>> tickets_;
  std::map<NodeId, Asked> asked_;  ///< of agents that somebody continues
  /// Of agents that somebody continues: how many of these and of itself are not settled yet.
  std::map<NodeId, int> n_users_;
  std::map<NodeId, FunctionPool::TaskId> tasks_;
};

}  // namespace swarmkv::internal
