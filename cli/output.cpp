#include "cli/output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>

#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

[[noreturn]] void fail(const std::string& name, int reason) {
  throw Error(ErrorCode::kUnwritable,
              "[cli.write] cannot write '" + name + "': " + std::strerror(reason));
}

class File {
 public:
  File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

// Removes the file unless it was renamed away.
class Temporary {
 public:
  /// `name` is the path as it was given, for messages.
  Temporary(const std::string& final_path, const std::string& name)
      : path_(final_path + ".tmp." + std::to_string(::getpid()) + "." +
              std::to_string(std::random_device{}())),  // a pid comes back, in containers often
        file_(path_, O_WRONLY | O_CREAT | O_EXCL) {
    if (file_.fd() < 0) fail(name, errno);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  [[nodiscard]] int fd() const { return file_.fd(); }
  void rename_to(const std::string& final_path, const std::string& name) {
    if (::rename(path_.c_str(), final_path.c_str()) != 0) fail(name, errno);
    path_.clear();
  }

 private:
  std::string path_;
  File file_;
};

// A link stays a link: what it points at is replaced.
std::string resolve_links(const std::string& path) {
  char* const resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string out = resolved;
  std::free(resolved);
  return out;
}

void refuse_folder(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) fail(path, EISDIR);
}

}  // namespace

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
      fail(name, errno);
    }
  }
  return true;
}

void check_writable(const std::string& path) {
  const std::string target = resolve_links(path);
  refuse_folder(path);
  if (is_special_file(target)) {
    if (::access(target.c_str(), W_OK) != 0) fail(path, errno);
    return;
  }
  const Temporary probe(target, path);
}

void write_file(const std::string& path, std::string_view text) {
  const std::string target = resolve_links(path);
  refuse_folder(path);
  if (is_special_file(target)) {
    const File file(target, O_WRONLY);
    if (file.fd() < 0) fail(path, errno);
    write_all(file.fd(), text, path);
    return;
  }
  Temporary file(target, path);
  if (!write_all(file.fd(), text, path)) fail(path, EPIPE);
  if (::fsync(file.fd()) != 0) fail(path, errno);
  file.rename_to(target, path);
}

void append_file(const std::string& path, std::string_view text) {
  const File file(path, O_WRONLY | O_CREAT | O_APPEND);
  if (file.fd() < 0) fail(path, errno);
  if (!write_all(file.fd(), text, path)) fail(path, EPIPE);
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
