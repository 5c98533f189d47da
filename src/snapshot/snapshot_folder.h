// A folder of snapshot files that any number of processes use at once.
//
// What must hold (docs/snapshot_format.md, "The folder"):
// (1) a file that has a snapshot's name is whole: it was written and synced under another name
// (2) a file never changes; it is replaced by renaming, and removed only while nobody has it open
// (3) a temporary file is locked by its writer; one that can be locked belongs to nobody any more
// (4) only names made or checked by snapshot_name.h reach the file system, relative to the open
//     folder, and no link is followed there
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "snapshot/open_folder.h"
#include "snapshot/snapshot_file.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {

/// What somebody looks for.
struct SnapshotQuery {
  SnapshotIdentity identity{};
  SnapshotArithmetic arithmetic{};  ///< of the run that asks
  bool bit_equal = false;           ///< only files with just this arithmetic will do
  std::span<const std::int32_t> tokens{};
  std::uint64_t least_tokens = 1;  ///< shorter files are not worth it
};

/// A file that would have matched by its tokens, and why it is not used.
struct RejectedSnapshot {
  std::string name{}, path{};
  ErrorCode code = ErrorCode::kMismatch;  ///< kMismatch, kCorrupt, kUnsupported or kUnreadable
  std::string reason{};                   ///< "KV type of keys q8_0, here f16"
  std::uint64_t n_tokens = 0;             ///< by its name
  bool set_aside = false;                 ///< it was damaged and is out of the way now
};

struct FoundSnapshot {
  std::optional<SnapshotFile> file;        ///< verified, locked and marked as used
  std::vector<RejectedSnapshot> rejected;  ///< damaged ones, and others that are longer than `file`
};

/// A file as list() sees it.
struct ListedSnapshot {
  std::string name{}, path{};
  std::optional<SnapshotHeader> header{};  ///< unset if there is a problem
  std::uint64_t size_bytes = 0;
  std::int64_t last_used_ns = 0;  ///< since 1970
  bool in_use = false;            ///< some process has it open, or is about to finish writing it
  ErrorCode code = ErrorCode::kCorrupt;  ///< of the problem
  std::string problem{};                 ///< empty = its header is sound

  /// A file of a newer version has a problem, too, but may be of use to others.
  [[nodiscard]] bool is_damaged() const {
    return !problem.empty() && code != ErrorCode::kUnsupported;
  }
};

/// What save() did.
struct SavedSnapshot {
  std::string name{}, path{};
  std::uint64_t size_bytes = 0;
  /// A sound file of the same tokens, identity and arithmetic; it was kept.
  bool was_there = false;
  std::vector<std::string> evicted;  ///< names of the files that had to go for it
};

struct SaveOptions {
  std::uint64_t limit_bytes = UINT64_MAX;  ///< of all snapshots in the folder
  /// Set by another thread to give up: the write ends within a few megabytes.
  const std::atomic<bool>* cancelled = nullptr;
};

/// Thread-safe: it has no state but the open folder.
class SnapshotFolder {
 public:
  /// Opens the folder, made with mode 0700 if it is not there, and removes temporary files that
  /// dead writers left.
  /// errors  kUnwritable  it cannot be made or opened, is a link or no folder, belongs to somebody
  ///         else, or others may write in it
  explicit SnapshotFolder(const std::string& path, const SystemCalls& calls = system_calls());

  [[nodiscard]] const std::string& path() const { return folder_.path(); }

  /// The file whose whole token list is the longest beginning of `query.tokens`, all of them
  /// included. Tokens are compared one by one; names and digests only choose candidates. Its state
  /// is verified; a damaged file is set aside and the next one tried.
  /// cost    reads the folder (1,000 files: about 1 ms), then only files that match by digest
  /// errors  kUnreadable  the folder cannot be read; problems of single files are in `rejected`
  [[nodiscard]] FoundSnapshot find_longest(const SnapshotQuery& query) const;

  /// Writes a file, unless a sound one of the same content is there. Files of the least recent use
  /// go until it fits; afterwards the folder is within the limit, files in use apart.
  /// cost    writes and syncs the file: for a thread that nobody waits for
  /// errors  kDoesNotFit  the file alone exceeds the limit (both sizes; nothing was written)
  ///         kUnwritable  disk full, read-only, folder gone; nothing stays behind
  ///         kCancelled, kInvalidArgument (as encode_snapshot_head)
  SavedSnapshot save(const SnapshotAbout& about, std::span<const std::int32_t> tokens,
                     std::span<const std::uint8_t> state, const SaveOptions& options = {}) const;

  /// Every snapshot, the last used first; headers are read, states are not.
  /// errors  kUnreadable  the folder cannot be read
  [[nodiscard]] std::vector<ListedSnapshot> list() const;

  /// The whole name of the file that `name` is, or is the beginning of. Of a file that was set
  /// aside and the one that took its place the latter is meant.
  /// errors  kInvalidArgument (could never be one), kUnreadable (no such snapshot; or several, all
  ///         of which stand in the message)
  [[nodiscard]] std::string full_name(const std::string& name) const;

  /// One as list() shows it, by its whole name. errors  kInvalidArgument, kUnreadable (not there)
  [[nodiscard]] ListedSnapshot look_at(const std::string& name) const;

  /// Why it is not used, after reading all of it; empty = nothing is wrong with its bytes.
  /// errors  kInvalidArgument, kUnreadable (not there)
  [[nodiscard]] std::string find_damage(const std::string& name) const;

  /// Opens one by its whole name. errors  as SnapshotFile::open; a link is refused
  [[nodiscard]] SnapshotFile open(const std::string& name) const;

  /// errors  kInvalidArgument, kUnreadable (not there), kUnwritable (in use, or cannot be removed)
  void remove(const std::string& name) const;

  /// Renames a damaged file to NAME.damaged, so that it is met once. False if that cannot be done.
  bool set_aside(const std::string& name) const noexcept;

  /// Removes what dead writers left, damaged files, and then by least recent use what exceeds the
  /// limit; never a file in use. Returns what went.
  std::vector<ListedSnapshot> prune(std::uint64_t limit_bytes) const;

 private:
  OpenFolder folder_;
};

}  // namespace swarmkv::internal
