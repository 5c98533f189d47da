#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "swarmkv/export.h"

namespace swarmkv {

enum class EventType {
  kRunStarted,
  kModelLoaded,
  kDocumentProgress,  ///< n_tokens of n_total are there
  kDocumentReady,
  kSnapshotRestored,  ///< name: document, n_tokens restored of n_total, text: the file; size_bytes,
                      ///< ms
  kSnapshotSaved,     ///< name: document, n_tokens, text: the file; size_bytes, ms
  kSnapshotRejected,  ///< name: document, text: why
  kAgentEnqueued,
  kAgentStarted,  ///< its documents are there, and there is room: its own prompt is next
  kAgentFirstToken,
  kAgentDelta,  ///< text: new text of the answer since the last delta, reasoning: new reasoning
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
  /// New text of a delta, the whole answer of a finished agent, message of an error or warning.
  std::string text;
  /// Of a delta: what the model thinks before it answers (AgentReport::reasoning), in front of
  /// `text`.
  std::string reasoning;
  std::string code;  ///< warning code ("SK601"), finish reason, error code name, status of a run
  int n_tokens = 0;  ///< computed, generated
  int n_total = 0;   ///< of how many; 0 = unknown
  std::optional<int> exit_code;  ///< kRunFinished only
  std::uint64_t size_bytes = 0;  ///< of a snapshot's file
  /// That it took: verifying and restoring a snapshot, or saving it; of a document, computing it up
  /// to here; 0 = nothing was computed, it was there.
  double ms = 0;
  /// Of documents and their snapshots: index into DocumentReport::readings, and, where agents read
  /// the document in several places, the document in front of it.
  int reading = 0;
  std::string after;
};

/// One JSON object on one line, UTF-8, newline at the end (docs/metrics.md, Events).
SWARMKV_API std::string to_json_line(const Event& event);

/// A run's events as lines of JSON: what an agent writes within 50 ms becomes one delta, with the
/// time at which they were over. Lines are numbered anew and without gaps. Const calls may overlap,
/// others need a lock.
class SWARMKV_API EventLines {
 public:
  /// The lines that are due now; none if `event` is a delta that others may still join.
  [[nodiscard]] std::string add(const Event& event);
  /// What is held back. To be called at due_ms(), in case that no event comes which would bring it
  /// out.
  [[nodiscard]] std::string flush();
  /// When the 50 ms are over of what is held back; unset = nothing is.
  [[nodiscard]] std::optional<double> due_ms() const;

 private:
  std::string write_held(double t_ms);
  std::string line(Event event);
  void hold(const Event& delta);
  std::vector<Event>::iterator held_of(const std::string& agent);

  std::vector<Event> held_;  ///< one delta an agent, in the order of their beginning
  double held_since_ms_ = 0;
  std::uint64_t n_lines_ = 0;
};

/// Receives a run's events. Called on a thread of that run, one call at a time, no lock held, so it
/// may block or call the library: that delays the later events of its own run, for all observers of
/// that run, and with its last event the run's end; neither the run's agents nor other runs wait.
/// What it did not get to is kept, an agent's text as one delta with the time of its beginning. It
/// may cancel or drop its own run, but not wait for it (Run::wait throws), and must not destroy the
/// engine. An observer of several runs is called by each of them, perhaps at the same time. An
/// observer that throws is removed and the run reports a warning (SK604).
class SWARMKV_API Observer {
 public:
  virtual ~Observer();
  virtual void on_event(const Event& event) = 0;
};

}  // namespace swarmkv
