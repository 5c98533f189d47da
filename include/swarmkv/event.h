#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "swarmkv/export.h"

namespace swarmkv {

enum class EventType {
  kRunStarted,
  kModelLoaded,
  kDocumentProgress,  ///< n_tokens of n_total computed
  kDocumentReady,
  kAgentEnqueued,
  kAgentStarted,  ///< admitted: its cells and sequence are reserved
  kAgentFirstToken,
  kAgentDelta,  ///< text: new text since the last delta
  kAgentPreempted,
  kAgentFinished,
  kAgentFailed,
  kAgentSkipped,
  kAgentCancelled,
  kWarning,
  kRunFinished,  ///< always the last one
};

/// The stable name used in JSON, for example "agent.first_token".
SWARMKV_API const char* to_string(EventType type) noexcept;

/// One thing that happened in a run. Fields that do not apply are empty or 0.
struct Event {
  EventType type = EventType::kWarning;
  std::uint64_t seq = 0;  ///< 0, 1, 2, ... without gaps within a run
  double t_ms = 0;        ///< since run clock 0 (model loaded); negative before
  std::string name;       ///< agent or document
  std::string text;       ///< delta text, error or warning message
  std::string code;       ///< warning code ("SK601"), finish reason, or error code name
  int n_tokens = 0;       ///< computed, generated
  int n_total = 0;        ///< of how many; 0 = unknown
};

/// One JSON object on one line, UTF-8, newline at the end (docs/metrics.md, Events).
SWARMKV_API std::string to_json_line(const Event& event);

/// Receives a run's events. Called on the engine's event thread, one call at a time, no lock held,
/// so it may block or call the library; an observer that throws is removed and the run reports a
/// warning.
class SWARMKV_API Observer {
 public:
  virtual ~Observer();
  virtual void on_event(const Event& event) = 0;
};

}  // namespace swarmkv
