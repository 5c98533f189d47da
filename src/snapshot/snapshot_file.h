// One snapshot file, open for reading.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "snapshot/file_handle.h"
#include "snapshot/format.h"
#include "snapshot/mapped_bytes.h"

namespace swarmkv::internal {

/// A whole snapshot file in memory without a copy, and a shared lock on it while this object lives,
/// so that no process evicts it. Move-only; const calls may overlap.
///
/// The file is mapped. Writers of this project never change a file, they replace its name, so what
/// is mapped stays; who shortens a snapshot in place while it is being read (`cp` over it) ends the
/// reader by SIGBUS, as with every mapped file. That is why only its user may write it.
class SnapshotFile {
 public:
  /// Opens any regular file, wherever it lies; a link is followed.
  ///
  /// Checked here: magic, byte order, version, every length against the file's size, the header's
  /// checksum, the token ids' digest. Not the state: verify() does.
  /// cost    reads header and tokens (4 bytes each)
  /// errors  kUnreadable (missing, no regular file, no permission), kCorrupt, kUnsupported; those
  ///         about content are SnapshotError
  [[nodiscard]] static SnapshotFile open(const std::string& path,
                                         const SystemCalls& calls = system_calls());

  /// The same for an open file; `path` stands in messages.
  SnapshotFile(FileHandle file, std::string path);
  SnapshotFile(SnapshotFile&&) noexcept = default;
  SnapshotFile& operator=(SnapshotFile&&) noexcept = default;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const SnapshotHeader& header() const { return header_; }

  /// Reads the state once and compares its digest. Needed before the first use of state().
  /// cost    one pass: about 7 GB/s from memory, the disk's speed otherwise
  /// errors  kCorrupt (both digests), kUnreadable
  void verify() const;

  /// Valid as long as this object.
  [[nodiscard]] std::span<const std::int32_t> tokens() const;
  [[nodiscard]] std::span<const std::uint8_t> state() const;  ///< begins at a multiple of 64

  /// Notes that the file was used now: the least recently used ones are evicted first.
  /// A file of somebody else, or on a read-only disk, stays as it is.
  void touch() const noexcept;

 private:
  std::string path_;
  FileHandle file_;
  SnapshotHeader header_;
  MappedBytes bytes_;
};

/// What is wrong with a file of this name, after reading all of it: "state checksum: ...". Empty =
/// nothing is, as far as bytes can tell.
[[nodiscard]] std::string find_damage(FileHandle file, const std::string& path);

/// Header alone, of an open file. errors  as SnapshotFile::open
[[nodiscard]] SnapshotHeader read_snapshot_header(const FileHandle& file, const std::string& path);

}  // namespace swarmkv::internal
