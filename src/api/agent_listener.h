// One agent's request as it goes on: events for observers, the record for the report, and in the
// end the outcome for the orchestrator.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/event_bus.h"
#include "api/node_records.h"
#include "api/prepare.h"
#include "schedule/request_runner.h"
#include "text/reasoning.h"

namespace swarmkv::internal {

/// Event thread only.
class AgentListener final : public RequestListener {
 public:
  /// `node`: an agent of `prepared`. `done` hears of it last.
  AgentListener(NodeId node, const Prepared& prepared, std::shared_ptr<EventBus> bus,
                std::shared_ptr<NodeRecords> records, NodeRunner::Done done);

  void on_admitted(TimePoint t) override;
  void on_prefix_progress(const PrefixProgress& progress) override;
  void on_first_token(TimePoint t) override;
  void on_text(std::string_view delta, int n_generated) override;
  void on_preempted() override;
  void on_finished(const Result& result) override;

 private:
  /// Where a document, with what is put in front of it, stands in a prefix.
  struct DocumentRange {
    Reading reading;
    int begin = 0, end = 0;
  };

  void start(TimePoint t);
  void tell(ReasoningStream::Piece piece, int n_generated);
  [[nodiscard]] Event event(EventType type) const;
  [[nodiscard]] NodeOutcome outcome_of(const Result& result) const;

  const NodeId node_;
  const std::string name_;
  const bool opens_reasoning_;
  const bool has_prefix_;
  std::vector<DocumentRange> documents_;
  std::size_t n_documents_ready_ = 0;
  int n_prefix_known_ = 0;  ///< of its tokens, those it was told of
  bool has_started_ = false;
  ReasoningStream text_;
  const std::shared_ptr<EventBus> bus_;
  const std::shared_ptr<NodeRecords> records_;
  const NodeRunner::Done done_;
};

}  // namespace swarmkv::internal
