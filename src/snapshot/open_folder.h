// An open folder, and the few things done to the names in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "snapshot/file_handle.h"
#include "snapshot/snapshot_name.h"

namespace swarmkv::internal {

/// A file of ours as the folder tells it, without opening it.
struct FolderEntry {
  std::string name{};
  NameKind kind = NameKind::kOther;
  std::uint64_t size_bytes = 0;
  std::int64_t last_used_ns = 0;
};

enum class Removed {
  kYes,
  kGone,   ///< somebody else was faster
  kInUse,  ///< some process has it open
  kNo,     ///< the system says no; errno tells
};

/// Thread-safe: every look at the folder opens it anew.
class OpenFolder {
 public:
  /// Makes the folder and those above it where they are missing, all with mode 0700.
  /// errors  kUnwritable  as SnapshotFolder
  OpenFolder(const std::string& path, const SystemCalls& calls);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const SystemCalls& calls() const { return *calls_; }
  [[nodiscard]] int fd() const { return folder_.fd(); }

  /// Names of our files, in no order. errors  kUnreadable
  [[nodiscard]] std::vector<std::string> names() const;

  /// The same with sizes and times; what vanishes meanwhile is left out. errors  kUnreadable
  [[nodiscard]] std::vector<FolderEntry> entries() const;

  /// One of them; nothing if there is no such file.
  [[nodiscard]] std::optional<FolderEntry> entry(const std::string& name) const;
  [[nodiscard]] bool exists(const std::string& name) const { return entry(name).has_value(); }

  /// errors  kUnreadable; links are not followed
  [[nodiscard]] FileHandle open(const std::string& name) const;

  /// Removes a file that nobody has open; of a link the link itself.
  Removed remove_unused(const std::string& name) const noexcept;

  /// Removes temporary files whose writer is gone; returns them. Never throws.
  std::vector<FolderEntry> remove_leftovers() const noexcept;

 private:
  const SystemCalls* calls_;
  std::string path_;
  FileHandle folder_;
};

}  // namespace swarmkv::internal
