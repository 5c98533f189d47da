#include "snapshot/file_handle.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "snapshot/snapshot_error.h"

namespace swarmkv::internal {

FileHandle::~FileHandle() {
  const int error = errno;  // what led here may still be asked for
  if (fd_ >= 0) ::close(fd_);
  errno = error;
}

std::string error_text(int error) { return std::generic_category().message(error); }

FileHandle open_regular(int folder, const std::string& name, bool follow_links,
                        const std::string& path, const SystemCalls& calls) {
  const auto unreadable = [&](const std::string& reason) {
    throw SnapshotError(ErrorCode::kUnreadable, path, "file", reason);
  };
  // Without O_NONBLOCK a pipe would keep us until somebody writes to it.
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (follow_links ? 0 : O_NOFOLLOW);
  FileHandle file(calls.open_at(folder, name.c_str(), flags, 0), calls);
  if (!file.is_open()) {
    const int error = errno;
    unreadable(error == ELOOP && !follow_links ? "is a link; links are not followed here"
                                               : error_text(error));
  }
  struct stat about {};
  if (calls.stat_of(file.fd(), &about) != 0) unreadable(error_text(errno));
  if (S_ISDIR(about.st_mode)) unreadable("is a folder");
  if (!S_ISREG(about.st_mode)) unreadable("is no regular file");
  return file;
}

std::size_t read_up_to(const FileHandle& file, void* to, std::size_t n, std::uint64_t offset,
                       const std::string& path) {
  std::size_t n_read = 0;
  while (n_read < n) {
    const ssize_t now = file.calls().read_at(file.fd(), static_cast<char*>(to) + n_read, n - n_read,
                                             static_cast<off_t>(offset + n_read));
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) throw SnapshotError(ErrorCode::kUnreadable, path, "file", error_text(errno));
    if (now == 0) break;
    n_read += static_cast<std::size_t>(now);
  }
  return n_read;
}

bool lock_in_use(const FileHandle& file) {
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i) {
    if (file.calls().lock(file.fd(), LOCK_SH | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    ::poll(nullptr, 0, 1);
  }
  return false;
}

bool lock_alone(const FileHandle& file) {
  return file.calls().lock(file.fd(), LOCK_EX | LOCK_NB) == 0;
}

void unlock(const FileHandle& file) { file.calls().lock(file.fd(), LOCK_UN); }

}  // namespace swarmkv::internal
