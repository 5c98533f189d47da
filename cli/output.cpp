#include "cli/output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "swarmkv/error.h"

namespace swarmkv::cli {

void cannot_write(const std::string& name, int reason) {
  throw Error(ErrorCode::kUnwritable,
              "[cli.write] cannot write '" + name + "': " + std::strerror(reason));
}

File::File(const std::string& path, int flags)
    : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}

File::File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

bool is_special_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

bool write_all(int fd, std::string_view text, const std::string& name) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EPIPE) {
      return false;
    } else if (errno == EAGAIN) {
      // Somebody made the descriptor non-blocking, as some shells and build tools do.
      pollfd wait{fd, POLLOUT, 0};
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      cannot_write(name, errno);
    }
  }
  return true;
}

void append_file(const std::string& path, std::string_view text) {
  const File file(path, O_WRONLY | O_CREAT | O_APPEND);
  if (file.fd() < 0) cannot_write(path, errno);
  if (!write_all(file.fd(), text, path)) cannot_write(path, EPIPE);
}

std::string read_whole(const std::string& path, std::size_t limit) {
  const std::string name = path == "-" ? "standard input" : "'" + path + "'";
  const auto unreadable = [&](const std::string& why) {
    return Error(ErrorCode::kUnreadable, "[cli.read] cannot read " + name + ": " + why);
  };
  std::optional<File> file;
  if (path != "-") {
    file.emplace(path, O_RDONLY);
    if (file->fd() < 0) throw unreadable(std::strerror(errno));
  }
  const int fd = file ? file->fd() : STDIN_FILENO;
  std::string out;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n > 0) {
      out.append(buffer, static_cast<std::size_t>(n));
      if (out.size() > limit) throw unreadable("more than " + std::to_string(limit) + " bytes");
    } else if (n == 0) {
      return out;
    } else if (errno != EINTR) {
      throw unreadable(std::strerror(errno));
    }
  }
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         S_ISREG(first.st_mode) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace swarmkv::cli
