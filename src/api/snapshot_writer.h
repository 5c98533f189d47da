// The store's own thread: nobody waits for it but a run's end, and that not for ever.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "engine/model.h"
#include "snapshot/snapshot_folder.h"

namespace swarmkv::internal {

/// What became of one write.
struct WriteOutcome {
  SavedSnapshot saved;
  double ms = 0;
  std::optional<ErrorCode> error_code;  ///< set: nothing was written
  std::string error;
};

struct WriteJob {
  std::shared_ptr<const SnapshotFolder> folder;
  std::shared_ptr<const Model> model;  ///< by whose rules the state is checked once more
  SnapshotAbout about;
  std::shared_ptr<const Tokens> tokens;
  std::vector<std::uint8_t> state;
  std::uint64_t limit_bytes = 0;
  /// On the writer's thread, at once where the writer is stopping; must not throw.
  std::function<void(WriteOutcome)> done;
};

/// Writes one file after another. Thread-safe. The destructor gives up what is not written yet: it
/// waits for some megabytes at most, and a disk that hangs.
class SnapshotWriter {
 public:
  SnapshotWriter() = default;
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  void add(WriteJob job);  ///< the first one starts the thread
  /// Of states that are waiting or being written.
  [[nodiscard]] std::uint64_t n_pending_bytes() const { return n_pending_bytes_; }

 private:
  void run();
  [[nodiscard]] WriteOutcome write(const WriteJob& job) const;

  std::atomic<std::uint64_t> n_pending_bytes_{0};
  std::atomic<bool> giving_up_{false};
  Mutex mutex_;
  ConditionVariable wake_;
  std::deque<WriteJob> queue_ GUARDED_BY(mutex_);
  std::thread thread_ GUARDED_BY(mutex_);
};

}  // namespace swarmkv::internal
