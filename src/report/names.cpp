// The stable names of public enumerators, as they stand in JSON and in tables.
#include "swarmkv/event.h"
#include "swarmkv/report.h"

namespace swarmkv {

const char* to_string(AgentStatus status) noexcept {
  switch (status) {
    case AgentStatus::kFinished:
      return "finished";
    case AgentStatus::kFailed:
      return "failed";
    case AgentStatus::kSkipped:
      return "skipped";
    case AgentStatus::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

const char* to_string(FinishReason reason) noexcept {
  switch (reason) {
    case FinishReason::kNone:
      return "none";
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
  }
  return "unknown";
}

const char* to_string(EventType type) noexcept {
  switch (type) {
    case EventType::kRunStarted:
      return "run.started";
    case EventType::kModelLoaded:
      return "model.loaded";
    case EventType::kDocumentProgress:
      return "document.progress";
    case EventType::kDocumentReady:
      return "document.ready";
    case EventType::kSnapshotRestored:
      return "snapshot.restored";
    case EventType::kSnapshotSaved:
      return "snapshot.saved";
    case EventType::kSnapshotRejected:
      return "snapshot.rejected";
    case EventType::kAgentEnqueued:
      return "agent.enqueued";
    case EventType::kAgentStarted:
      return "agent.started";
    case EventType::kAgentFirstToken:
      return "agent.first_token";
    case EventType::kAgentDelta:
      return "agent.delta";
    case EventType::kAgentPreempted:
      return "agent.preempted";
    case EventType::kAgentFinished:
      return "agent.finished";
    case EventType::kAgentFailed:
      return "agent.failed";
    case EventType::kAgentSkipped:
      return "agent.skipped";
    case EventType::kAgentCancelled:
      return "agent.cancelled";
    case EventType::kWarning:
      return "warning";
    case EventType::kRunFinished:
      return "run.finished";
  }
  return "unknown";
}

// Here, so that the class has one home for its virtual table.
Observer::~Observer() = default;

}  // namespace swarmkv
