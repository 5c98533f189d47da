// One event as one line of JSON. Fields that do not apply to an event's type are left out, so that
// a line says nothing that is not so.
#include "report/json_values.h"
#include "swarmkv/event.h"

namespace swarmkv {
namespace {

using internal::Json;
using internal::json_number;
using internal::json_text;

const char* text_key(EventType type) {
  if (type == EventType::kAgentDelta || type == EventType::kAgentFinished) return "text";
  if (type == EventType::kAgentSkipped || type == EventType::kSnapshotRejected) return "reason";
  if (type == EventType::kSnapshotRestored || type == EventType::kSnapshotSaved) return "path";
  return "message";
}

const char* code_key(EventType type) {
  if (type == EventType::kAgentFinished) return "finish_reason";
  if (type == EventType::kRunFinished) return "status";
  return "code";
}

const char* name_key(EventType type) {
  switch (type) {
    case EventType::kDocumentProgress:
    case EventType::kDocumentReady:
    case EventType::kSnapshotRestored:
    case EventType::kSnapshotSaved:
    case EventType::kSnapshotRejected:
      return "document";
    case EventType::kRunStarted:
    case EventType::kModelLoaded:
    case EventType::kRunFinished:
      return "name";
    default:
      return "agent";
  }
}

}  // namespace

std::string to_json_line(const Event& event) {
  Json json{{"v", 1},
            {"seq", event.seq},
            {"t_ms", json_number(event.t_ms)},
            {"type", to_string(event.type)}};
  if (!event.name.empty()) json[name_key(event.type)] = json_text(event.name);
  if (!event.after.empty()) json["after"] = json_text(event.after);
  if (event.reading > 0) json["reading"] = event.reading;
  if (!event.code.empty()) json[code_key(event.type)] = json_text(event.code);
  if (event.exit_code) json["exit_code"] = *event.exit_code;
  if (!event.reasoning.empty()) json["reasoning"] = json_text(event.reasoning);
  // An answer may be empty, and is one all the same; and joining deltas must not meet a gap.
  if (!event.text.empty() || event.type == EventType::kAgentFinished ||
      event.type == EventType::kAgentDelta) {
    json[text_key(event.type)] = json_text(event.text);
  }
  if (event.n_tokens != 0 || event.n_total != 0) json["n_tokens"] = event.n_tokens;
  if (event.n_total != 0) json["n_total"] = event.n_total;
  if (event.size_bytes != 0) json["size_bytes"] = event.size_bytes;
  if (event.ms > 0) json["ms"] = json_number(event.ms);
  return internal::json_dump(json, -1);
}

}  // namespace swarmkv
