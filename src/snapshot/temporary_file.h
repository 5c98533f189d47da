// A file that gets its name when it is whole.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "snapshot/open_folder.h"

namespace swarmkv::internal {

/// Written under a name that no reader looks at, mode 0600, locked so that nobody takes it for a
/// left-over. Without commit() the destructor removes it. One thread.
class TemporaryFile {
 public:
  /// errors  kUnwritable
  explicit TemporaryFile(const OpenFolder& folder);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Appends. `cancelled` (may be null) is looked at every few megabytes.
  /// errors  kUnwritable (disk full, larger than the process may write), kCancelled
  void write(std::span<const std::uint8_t> bytes, const std::atomic<bool>* cancelled);

  /// Syncs it and gives it its name, in place of a file that has it.
  /// errors  kUnwritable
  void commit(const std::string& name);

 private:
  [[noreturn]] void fail(const char* what, int error) const;
  bool create();

  const OpenFolder& folder_;
  std::string name_;
  FileHandle file_;
  std::uint64_t n_written_ = 0;
};

}  // namespace swarmkv::internal
