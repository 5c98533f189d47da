#include "cli/report_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOpenFiles = "/proc/self/fd/";  // needed to give a file its name

fs::path folder_of(const std::string& target) {
  const fs::path folder = fs::path(target).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// Short, whatever the report is called: the longest name that a folder takes must do. A process id
// comes back, in containers often.
std::string temporary_name(const std::string& target) {
  const std::string name = ".swarmkv." + std::to_string(::getpid()) + "." +
                           std::to_string(std::random_device{}()) + ".tmp";
  return (folder_of(target) / name).string();
}

// By hand, because the last link may point at a file that is yet to be made.
std::string follow_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // the kernel's own limit
  fs::path at = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code no_link;
    const fs::path next = fs::read_symlink(at, no_link);
    if (no_link) return at.string();
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  cannot_write(path, ELOOP);
}

File open_special(const std::string& path) {
  // Without O_NONBLOCK this would wait until somebody opens the pipe's other end.
  File file(path, O_WRONLY | O_NONBLOCK);
  if (file.fd() < 0 && errno == ENXIO) {
    throw Error(ErrorCode::kUnwritable,
                "[cli.write] cannot write '" + path + "': no program reads from this pipe");
  }
  if (file.fd() < 0) cannot_write(path, errno);
  return file;
}

}  // namespace

ReportFile::ReportFile(std::string path, While writing)
    : path_(std::move(path)),
      unnamed_(writing == While::kUnnamed && ::access(kOpenFiles, X_OK) == 0) {
  struct stat info {};
  const bool exists = ::stat(path_.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) cannot_write(path_, errno);
  if (exists && S_ISDIR(info.st_mode)) cannot_write(path_, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    special_ = open_special(path_);
    return;
  }
  target_ = follow_links(path_);
  const File probe = open_temporary();
  remove_temporary();
}

ReportFile::~ReportFile() { remove_temporary(); }

// A file without a name goes away with the process, however that ends; where there is no such thing
// it gets a name at once.
File ReportFile::open_temporary() {
  if (unnamed_) {
    File file(folder_of(target_).string(), O_TMPFILE | O_WRONLY);
    if (file.fd() >= 0) return file;
    // The last two are what systems answer that have never heard of it.
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) cannot_write(path_, errno);
    unnamed_ = false;
  }
  const std::lock_guard lock(mutex_);
  temporary_ = temporary_name(target_);
  File file(temporary_, O_WRONLY | O_CREAT | O_EXCL);
  if (file.fd() < 0) {
    temporary_.clear();
    cannot_write(path_, errno);
  }
  return file;
}

void ReportFile::remove_temporary() noexcept {
  const std::lock_guard lock(mutex_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void ReportFile::write(std::string_view text) {
  if (!target_.empty()) {
    try {
      replace(text);
    } catch (...) {
      remove_temporary();
      throw;
    }
  } else if (!write_all(special_.fd(), text, path_)) {
    cannot_write(path_, EPIPE);
  }
}

void ReportFile::replace(std::string_view text) {
  const File file = open_temporary();
  if (!write_all(file.fd(), text, path_)) cannot_write(path_, EPIPE);
  struct stat old {};
  if (::stat(target_.c_str(), &old) == 0) {
    // Not every file system has modes, and the report matters more.
    [[maybe_unused]] const int ignored = ::fchmod(file.fd(), old.st_mode & 0777);
  }
  if (::fsync(file.fd()) != 0) cannot_write(path_, errno);

  const std::lock_guard lock(mutex_);
  if (temporary_.empty()) {
    // A new name cannot take the place of a file; only renaming can.
    const std::string name = temporary_name(target_);
    const std::string open_file = kOpenFiles + std::to_string(file.fd());
    if (::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      cannot_write(path_, errno);
    }
    temporary_ = name;
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) cannot_write(path_, errno);
  temporary_.clear();
}

void ReportFile::abandon() noexcept {
  // A file system that does not answer must not keep the process alive.
  constexpr int kTries = 50;
  for (int i = 0; i < kTries; ++i) {
    if (mutex_.try_lock()) {
      if (!temporary_.empty()) ::unlink(temporary_.c_str());
      return;  // still locked: nothing may be renamed any more
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace swarmkv::cli
