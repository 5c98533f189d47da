#include "snapshot/system_calls.h"

#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

namespace swarmkv::internal {

int SystemCalls::open_at(int folder, const char* name, int flags, mode_t mode) const {
  return ::openat(folder, name, flags, mode);
}
int SystemCalls::make_folder(const char* path, mode_t mode) const { return ::mkdir(path, mode); }
int SystemCalls::stat_of(int fd, struct stat* out) const { return ::fstat(fd, out); }
int SystemCalls::stat_at(int folder, const char* name, struct stat* out) const {
  return ::fstatat(folder, name, out, AT_SYMLINK_NOFOLLOW);
}
ssize_t SystemCalls::read_at(int fd, void* to, std::size_t n, off_t offset) const {
  return ::pread(fd, to, n, offset);
}
ssize_t SystemCalls::write(int fd, const void* from, std::size_t n) const {
  return ::write(fd, from, n);
}
int SystemCalls::sync(int fd) const { return ::fsync(fd); }
int SystemCalls::lock(int fd, int operation) const { return ::flock(fd, operation); }

int SystemCalls::set_used_now(int fd) const {
  // The kernel's own "now" moves in steps of some milliseconds, too coarse to tell what was first.
  struct timespec times[2] = {{0, UTIME_OMIT}, {}};
  if (::clock_gettime(CLOCK_REALTIME, &times[1]) != 0) return -1;
  return ::futimens(fd, times);
}

int SystemCalls::rename_at(int folder, const char* from, const char* to) const {
  return ::renameat(folder, from, folder, to);
}
int SystemCalls::unlink_at(int folder, const char* name) const {
  return ::unlinkat(folder, name, 0);
}
void* SystemCalls::map(int fd, std::size_t n) const {
  return ::mmap(nullptr, n, PROT_READ, MAP_PRIVATE, fd, 0);
}

const SystemCalls& system_calls() {
  static const SystemCalls real;
  return real;
}

}  // namespace swarmkv::internal
