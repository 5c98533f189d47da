// An open file or folder, closed once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "snapshot/system_calls.h"

namespace swarmkv::internal {

/// Owns a descriptor and knows the calls it was opened with. Move-only.
class FileHandle {
 public:
  FileHandle() = default;
  FileHandle(int fd, const SystemCalls& calls) : fd_(fd), calls_(&calls) {}
  FileHandle(FileHandle&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), calls_(other.calls_) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(calls_, other.calls_);
    return *this;
  }
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  ~FileHandle();

  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] const SystemCalls& calls() const { return *calls_; }

 private:
  int fd_ = -1;
  const SystemCalls* calls_ = nullptr;
};

/// Opens a regular file to read it. Never waits at a pipe, and `name` is relative to `folder`
/// (AT_FDCWD: to the working folder).
/// errors  kUnreadable  missing, a folder, a device, a link where they are not followed ...
[[nodiscard]] FileHandle open_regular(int folder, const std::string& name, bool follow_links,
                                      const std::string& path, const SystemCalls& calls);

/// As many bytes as there are, up to `n`. errors  kUnreadable
std::size_t read_up_to(const FileHandle& file, void* to, std::size_t n, std::uint64_t offset,
                       const std::string& path);

/// Takes a lock on `file` that says "in use". Whoever holds the other kind holds it for a moment
/// only, so this tries for at most 100 ms; false = somebody holds it longer, or the file system has
/// no locks. In both cases the file can be used all the same.
bool lock_in_use(const FileHandle& file);

/// True if nobody else has `file` locked; then the caller has, until it closes it or calls unlock.
bool lock_alone(const FileHandle& file);
void unlock(const FileHandle& file);

/// "No space left on device" of an errno value.
std::string error_text(int error);

}  // namespace swarmkv::internal
