#include "api/agent_listener.h"

#include <algorithm>
#include <utility>

#include "text/reasoning.h"

namespace swarmkv::internal {

AgentListener::AgentListener(NodeId node, const Prepared& prepared, std::shared_ptr<EventBus> bus,
                             std::shared_ptr<NodeRecords> records, NodeRunner::Done done)
    : node_(node),
      name_(prepared.pipeline.agents[static_cast<std::size_t>(node)].name),
      opens_reasoning_(prepared.prompts->opens_reasoning()),
      bus_(std::move(bus)),
      records_(std::move(records)),
      done_(std::move(done)) {
  const ReadList& list = prepared.reads_of(static_cast<std::size_t>(node));
  for (std::size_t i = 0; i < list.documents.size(); ++i) {
    documents_.push_back({prepared.documents[list.documents[i]].name, list.begin(i), list.end(i)});
  }
}

Event AgentListener::event(EventType type) const {
  Event news;
  news.type = type;
  news.name = name_;
  return news;
}

void AgentListener::on_admitted(TimePoint t) { bus_->deliver(event(EventType::kAgentStarted), t); }

void AgentListener::on_prefix_progress(int n_computed, int, TimePoint t) {
  for (const DocumentRange& document : documents_) {
    const int n = std::min(n_computed, document.end) - document.begin;
    if (n >= 0) bus_->document_progress(document.name, n, document.end - document.begin, t);
  }
}

void AgentListener::on_first_token(TimePoint t) {
  bus_->deliver(event(EventType::kAgentFirstToken), t);
}

void AgentListener::on_text(std::string_view delta, int n_generated) {
  Event news = event(EventType::kAgentDelta);
  news.text = std::string(delta);
  news.n_tokens = n_generated;
  bus_->deliver(std::move(news), std::chrono::steady_clock::now());
}

void AgentListener::on_preempted() {
  const TimePoint now = std::chrono::steady_clock::now();
  records_->change(node_, [&](NodeRecord& record) { record.preempted.push_back(now); });
  bus_->deliver(event(EventType::kAgentPreempted), now);
}

void AgentListener::on_finished(const Result& result) {
  auto kept = std::make_shared<const Result>(result);
  records_->change(node_, [&](NodeRecord& record) { record.result = std::move(kept); });
  done_(node_, outcome_of(result));
}

NodeOutcome AgentListener::outcome_of(const Result& result) const {
  using Status = NodeOutcome::Status;
  switch (result.state) {
    case RequestState::kFinished:
      return {Status::kFinished, split_reasoning(result.text, opens_reasoning_).answer, {}, {}};
    case RequestState::kCancelled:
      return {Status::kCancelled, {}, ErrorCode::kCancelled, result.error};
    default:
      return {Status::kFailed, {}, result.error_code, result.error};
  }
}

}  // namespace swarmkv::internal
