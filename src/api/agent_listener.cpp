#include "api/agent_listener.h"

#include <algorithm>
#include <utility>

namespace swarmkv::internal {

AgentListener::AgentListener(NodeId node, const Prepared& prepared, std::shared_ptr<EventBus> bus,
                             std::shared_ptr<NodeRecords> records, NodeRunner::Done done)
    : node_(node),
      name_(prepared.pipeline.agents[static_cast<std::size_t>(node)].name),
      opens_reasoning_(prepared.opens_reasoning(static_cast<std::size_t>(node))),
      has_prefix_(!prepared.agents[static_cast<std::size_t>(node)].prefix->empty()),
      text_(opens_reasoning_),
      bus_(std::move(bus)),
      records_(std::move(records)),
      done_(std::move(done)) {
  const ReadList& list = prepared.reads_of(static_cast<std::size_t>(node));
  for (std::size_t i = 0; i < list.documents.size(); ++i) {
    const std::size_t document = list.documents[i];
    Reading reading{prepared.documents[document].name, list.readings[i], {}};
    if (i > 0 && prepared.n_readings[document] > 1) {
      reading.after = prepared.documents[list.documents[i - 1]].name;
    }
    documents_.push_back({std::move(reading), list.begin(i), list.end(i)});
  }
}

Event AgentListener::event(EventType type) const {
  Event news;
  news.type = type;
  news.name = name_;
  return news;
}

// With room, but without its documents, it waits for them.
void AgentListener::on_admitted(TimePoint t) {
  if (!has_prefix_) start(t);
}

void AgentListener::on_prefix_progress(const PrefixProgress& progress) {
  std::size_t d = n_documents_ready_;
  for (; d < documents_.size() && documents_[d].begin <= progress.n_computed; ++d) {
    const DocumentRange& document = documents_[d];
    const int n = std::min(progress.n_computed, document.end) - document.begin;
    // Nothing of it is new to us, if the forward was for what stands behind it.
    const bool is_news = n > n_prefix_known_ - document.begin;
    bus_->document_progress(
        document.reading,
        {n, document.end - document.begin, is_news ? progress.began : std::nullopt, progress.t});
    if (progress.n_computed >= document.end) n_documents_ready_ = d + 1;
  }
  n_prefix_known_ = progress.n_computed;
  if (progress.n_computed >= progress.n_total) start(progress.t);
}

void AgentListener::start(TimePoint t) {
  if (std::exchange(has_started_, true)) return;
  bus_->send(event(EventType::kAgentStarted), t);
}

void AgentListener::on_first_token(TimePoint t) {
  bus_->send(event(EventType::kAgentFirstToken), t);
}

void AgentListener::on_text(std::string_view delta, int n_generated) {
  tell(text_.push(delta), n_generated);
}

// Also if all of it is held back: observers count the tokens.
void AgentListener::tell(ReasoningStream::Piece piece, int n_generated) {
  Event news = event(EventType::kAgentDelta);
  news.text = std::move(piece.answer);
  news.reasoning = std::move(piece.reasoning);
  news.n_tokens = n_generated;
  bus_->send(std::move(news));
}

void AgentListener::on_preempted() {
  const TimePoint now = std::chrono::steady_clock::now();
  records_->change(node_, [&](NodeRecord& record) { record.preempted.push_back(now); });
  bus_->send(event(EventType::kAgentPreempted), now);
}

void AgentListener::on_finished(const Result& result) {
  ReasoningStream::Piece rest = text_.finish();
  if (!rest.empty()) tell(std::move(rest), static_cast<int>(result.tokens.size()));
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
