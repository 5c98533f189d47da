// Snapshots: what a model computed for a document, kept in a file so that it is not computed again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "swarmkv/export.h"

namespace swarmkv {

/// What stands in the header of a snapshot file (docs/snapshot_format.md).
struct SnapshotInfo {
  std::string name;  ///< file name in its store
  std::string path;
  int format_version = 0;
  std::string model_name, model_fingerprint, arch;
  std::string cache_type_k, cache_type_v;
  std::string engine;             ///< runtime and its commit
  std::string document;           ///< what the document was called when it was saved
  int n_tokens = 0;               ///< its prefix, as the model reads it
  std::string token_digest;       ///< xxh3-128 of the token ids, hex
  bool deterministic = false;     ///< saved in that mode: answers are promised to be bit-equal
  std::uint64_t size_bytes = 0;   ///< of the file
  std::uint64_t state_bytes = 0;  ///< of the engine's state in it
  std::string created_at;         ///< UTC, ISO 8601
  std::string last_used_at;       ///< the same
  bool in_use = false;            ///< some process has it open, or is just finishing it
  std::string problem;            ///< why it cannot be read; empty = its header is sound
  bool damaged = false;           ///< of a problem: nobody can use the file, prune() removes it
};

/// A folder of snapshot files. Any number of processes may use it at once; only its user can read
/// it. Thread-safe.
class SWARMKV_API SnapshotStore {
 public:
  /// Makes the folder if need be. Empty = default_folder().
  /// errors  kUnwritable  it cannot be made, is a link, belongs to another user, or others can
  ///                      write in it
  explicit SnapshotStore(const std::string& folder = {});
  SnapshotStore(SnapshotStore&&) noexcept;
  SnapshotStore& operator=(SnapshotStore&&) noexcept;
  ~SnapshotStore();

  /// `snapshots` in SWARMKV_CACHE, else in the user's cache folder.
  static std::string default_folder();

  [[nodiscard]] const std::string& folder() const;

  /// Every file, the last used first. Reads headers only; damaged files have a `problem`.
  /// errors  kUnreadable  the folder cannot be read any more
  [[nodiscard]] std::vector<SnapshotInfo> list() const;

  /// One of them: `name` is a whole file name, or the beginning of exactly one.
  /// errors  kInvalidArgument (could be no file's name), kUnreadable (no such snapshot, or
  ///         several), kCorrupt (also of one that was set aside, and why), kUnsupported
  [[nodiscard]] SnapshotInfo show(const std::string& name) const;

  /// The same after reading all of it and comparing its checksums.
  /// cost    reads the file: about 7 GB/s from memory, the disk's speed otherwise
  /// errors  as show
  SnapshotInfo verify(const std::string& name) const;

  /// `name` as for show. Returns what went.
  /// errors  kInvalidArgument, kUnreadable (no such snapshot, or several), kUnwritable (in use, or
  ///         cannot be removed)
  SnapshotInfo remove(const std::string& name);

  /// Removes damaged and left-over files and then, the least recently used first, what exceeds
  /// `limit_bytes`; never a file in use. Returns what went.
  std::vector<SnapshotInfo> prune(std::uint64_t limit_bytes);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// The header of a snapshot file anywhere. Reads no more than that.
///
/// One that a store has set aside as damaged (*.swkv.damaged) is read whole instead: `problem` says
/// why, and of its header the rest is there if it can be read.
/// errors  kUnreadable, kCorrupt, kUnsupported (a version this program does not read)
SWARMKV_API SnapshotInfo inspect_snapshot(const std::string& path);

/// True if the file begins as a snapshot does, or was one and is set aside. False if it cannot be
/// read.
SWARMKV_API bool is_snapshot(const std::string& path);

}  // namespace swarmkv
