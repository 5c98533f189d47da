// What SnapshotUse shares with the engine's thread and the store's. They may outlive the run.
#pragma once

#include <algorithm>

#include "api/snapshot_use.h"

namespace swarmkv::internal {

inline constexpr const char* kNotExactSnapshot =
    "longer than the model's window: answers would not be bit-equal in deterministic mode";

inline constexpr const char* kStoredAlready = "it is stored already, and was not needed";
inline constexpr const char* kNotComputed = "it did not have to be computed";

inline bool begins_with(const Tokens& all, const Tokens& begin) {
  return begin.size() <= all.size() && std::equal(begin.begin(), begin.end(), all.begin());
}

/// Set by the engine's thread when it loads the file.
struct SnapshotUse::Offered {
  std::string path, name;              ///< name: in our store; empty for a file that the user named
  std::vector<std::string> documents;  ///< whose state it is
  int n_tokens = 0;
  std::uint64_t size_bytes = 0, state_bytes = 0;
  double find_ms = 0;
  std::shared_ptr<const void> offer;  ///< run's thread only

  Mutex mutex;
  int n_loads GUARDED_BY(mutex) = 0;
  double load_ms GUARDED_BY(mutex) = 0;
  std::string error GUARDED_BY(mutex);

  struct Loads {
    int n;
    double ms;
    std::string error;
  };
  [[nodiscard]] Loads loads() {
    const MutexLock lock(mutex);
    return {n_loads, load_ms, error};
  }
};

/// How far the writer is, for a run's end that waits.
struct SnapshotUse::Progress {
  Mutex mutex;
  ConditionVariable changed;
  int n_writing GUARDED_BY(mutex) = 0;
  bool cancelled GUARDED_BY(mutex) = false;  ///< nobody wants to wait any more
  bool closed GUARDED_BY(mutex) = false;     ///< the run is over: no events any more
};

/// Set by the engine's thread (why there is no state) and the store's.
struct SnapshotUse::Kept {
  Mutex mutex;
  bool is_done GUARDED_BY(mutex) = false;
  std::string skipped GUARDED_BY(mutex);      ///< why nothing was captured
  bool is_warning GUARDED_BY(mutex) = false;  ///< and that is worth a warning
  double capture_ms GUARDED_BY(mutex) = 0;
  std::optional<WriteOutcome> written GUARDED_BY(mutex);
};

}  // namespace swarmkv::internal
