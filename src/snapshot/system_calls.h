// The system calls of this folder, in one place, so that tests make any of them fail, or end the
// process at it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>

namespace swarmkv::internal {

/// Each does what the function of its name does, errno included. Thread-safe.
class SystemCalls {
 public:
  SystemCalls() = default;
  SystemCalls(const SystemCalls&) = delete;
  SystemCalls& operator=(const SystemCalls&) = delete;
  virtual ~SystemCalls() = default;

  virtual int open_at(int folder, const char* name, int flags, mode_t mode) const;
  virtual int make_folder(const char* path, mode_t mode) const;
  virtual int stat_of(int fd, struct stat* out) const;
  virtual int stat_at(int folder, const char* name, struct stat* out) const;  ///< no link followed
  virtual ssize_t read_at(int fd, void* to, std::size_t n, off_t offset) const;
  virtual ssize_t write(int fd, const void* from, std::size_t n) const;
  virtual int sync(int fd) const;
  virtual int lock(int fd, int operation) const;  ///< flock
  virtual int set_used_now(int fd) const;         ///< futimens: modification time alone
  virtual int rename_at(int folder, const char* from, const char* to) const;
  virtual int unlink_at(int folder, const char* name) const;
  virtual void* map(int fd, std::size_t n) const;  ///< read-only, private; MAP_FAILED
};

/// The real ones.
const SystemCalls& system_calls();

}  // namespace swarmkv::internal
