// What one run does with snapshots: before its agents start it finds what earlier runs left and
// offers it to the scheduler; afterwards it keeps what had to be computed.
//
//   begin()   store --find, verify, look at every number--> offer --> scheduler loads it when the
//             first agent needs it, and again if it was thrown out
//   finish()  scheduler --state, captured between two forwards--> store's own thread --> file
//
// A file that cannot be used costs a warning, never the run. Only what the user names himself has
// to be right.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/event_bus.h"
#include "api/snapshot_host.h"
#include "api/snapshot_targets.h"
#include "api/snapshot_writer.h"
#include "orchestrate/orchestrator.h"
#include "schedule/request_runner.h"
#include "snapshot/snapshot_folder.h"
#include "swarmkv/engine.h"

namespace swarmkv::internal {

struct SnapshotContext {
  const Prepared& prepared;
  RequestRunner& runner;
  SnapshotWriter& writer;
  const SnapshotHost& host;  ///< the engine's
  std::shared_ptr<EventBus> bus;
  std::string handoff;             ///< by name
  bool deterministic = false;      ///< the engine's mode, however it keeps its promise
  std::string attention_target{};  ///< the engine's
};

/// begin() and finish() on the run's thread, once each.
class SnapshotUse {
 public:
  /// Opens, verifies and compares files that documents name.
  /// errors  kUnreadable, kCorrupt, kUnsupported, kMismatch  of such a file
  ///         kInvalidArgument  a file is named, but the hand-off is not "shared"
  SnapshotUse(SnapshotContext context, SnapshotOptions options);
  ~SnapshotUse();
  SnapshotUse(const SnapshotUse&) = delete;
  SnapshotUse& operator=(const SnapshotUse&) = delete;

  void begin();
  /// Saves what is worth it, waits for the writer as long as the options say, and adds to the
  /// report what became of it all.
  void finish(RunReport& report, const OrchestratorResult& outcome);
  /// Ends the waiting of finish(). Any thread.
  void cancel();

 private:
  struct Offered;  ///< a file and what the engine thread made of it
  struct Kept;     ///< a target's state on its way to the store
  struct Progress;
  struct TargetUse {
    std::vector<std::shared_ptr<Offered>> offered;  ///< of a named file, of the store
    std::shared_ptr<CaptureTicket> capture;
    std::shared_ptr<Kept> kept;
    std::vector<RejectedSnapshot> rejected;  ///< files of these tokens that were not used
    std::string skipped;                     ///< why nothing was looked for or kept
  };

  void learn_identity();
  void open_named(const NamedSnapshot& file);
  void open_store();
  void look_up(std::size_t target);
  [[nodiscard]] FoundSnapshot find(const SnapshotTarget& target) const;
  void note_rejected(std::size_t target, const RejectedSnapshot& file);
  void offer(std::size_t target, SnapshotFile file, double ms, bool is_ours);
  void want_state(std::size_t target);
  [[nodiscard]] SnapshotArithmetic arithmetic(const SnapshotTarget& target, int n) const;
  [[nodiscard]] std::vector<std::string> names_of(std::size_t target) const;
  [[nodiscard]] bool is_deterministic() const { return context_.deterministic; }
  [[nodiscard]] int most_exact_tokens() const;

  void save_all(const OrchestratorResult& outcome);
  [[nodiscard]] bool wait_for_writer(TimePoint until);
  void fill(RunReport& report);
  /// Files that a target could start from.
  struct Found {
    std::vector<SnapshotFileReport> files;  ///< rejected and restored ones
    std::shared_ptr<Offered> restored;      ///< the longest that was loaded
    std::shared_ptr<Offered> unused;        ///< was offered, and nobody needed it
  };
  [[nodiscard]] static SnapshotFileReport restored_from(Offered& offered);
  [[nodiscard]] std::shared_ptr<Offered> longer_file(std::size_t target) const;
  [[nodiscard]] Found found_for(std::size_t target) const;
  [[nodiscard]] std::optional<SnapshotFileReport> kept_of(std::size_t target) const;
  [[nodiscard]] SnapshotFileReport nothing_of(std::size_t target) const;
  [[nodiscard]] SnapshotReport report_of(std::size_t target) const;
  void tell_readings(RunReport& report, std::size_t target, const SnapshotReport& known) const;
  void mark_restored(RunReport& report) const;
  void warn(const char* code, std::string message, std::string hint = {});
  [[nodiscard]] bool is_news(const std::string& path);  ///< once for each path
  void warn_not_used(const std::string& path, const std::string& reason, const std::string& name,
                     bool is_set_aside);
  void send(EventType type, std::size_t target, int n_tokens, std::string text);
  [[nodiscard]] Event event_of(std::size_t target, int n_tokens) const;

  const SnapshotContext context_;
  const SnapshotOptions options_;
  const SnapshotPlan plan_;
  std::vector<TargetUse> uses_;  ///< by target
  SnapshotIdentity identity_;
  std::shared_ptr<const SnapshotFolder> folder_;
  std::vector<Warning> warnings_;
  std::vector<std::string> told_;  ///< files that a warning was given for
  std::shared_ptr<Progress> progress_;
};

}  // namespace swarmkv::internal
