#include "cli/report_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>
#include <utility>

#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOpenFiles = "/proc/self/fd/";  // needed to give a file its name

constexpr int kFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;

bool has_open_files() { return ::access(kOpenFiles, X_OK) == 0; }

// Short, whatever the report is called: the longest name that a folder takes must do. A process id
// comes back, in containers often.
std::string temporary_name() {
  return ".swarmkv." + std::to_string(::getpid()) + "." + std::to_string(std::random_device{}()) +
         ".tmp";
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

// What a path leads to in the end: its folder, and the name in there.
ReportFile::Place place_of(const std::string& path) {
  const fs::path target = follow_links(path);
  const std::string folder = target.has_parent_path() ? target.parent_path().string() : ".";
  return {path, [folder] { return File(folder, kFolder); }, target.filename().string()};
}

File opened_pipe(File file, const std::string& path) {
  if (file.fd() < 0 && errno == ENXIO) {
    throw Error(ErrorCode::kUnwritable,
                "[cli.write] cannot write '" + path + "': no program reads from this pipe");
  }
  if (file.fd() < 0) cannot_write(path, errno);
  return file;
}

// Without O_NONBLOCK an open would wait until somebody opens the pipe's other end.
constexpr int kPipe = O_WRONLY | O_NONBLOCK | O_CLOEXEC;

}  // namespace

ReportFile::ReportFile(std::string path, While writing)
    : place_{std::move(path), {}, {}}, unnamed_(writing == While::kUnnamed && has_open_files()) {
  struct stat info {};
  const bool exists = ::stat(place_.path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) cannot_write(place_.path, errno);
  if (exists && S_ISDIR(info.st_mode)) cannot_write(place_.path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    special_ = opened_pipe(File(place_.path, kPipe), place_.path);
    return;
  }
  place_ = place_of(place_.path);
  try_out();
}

ReportFile::ReportFile(Place place, While writing)
    : place_(std::move(place)), unnamed_(writing == While::kUnnamed && has_open_files()) {
  struct stat info {};
  const File folder = open_folder();
  const char* name = place_.name.c_str();
  const bool exists = ::fstatat(folder.fd(), name, &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (!exists && errno != ENOENT) cannot_write(place_.path, errno);
  if (exists && S_ISDIR(info.st_mode)) cannot_write(place_.path, EISDIR);
  if (exists && S_ISLNK(info.st_mode)) cannot_write(place_.path, ELOOP);
  if (exists && !S_ISREG(info.st_mode)) {
    special_ = opened_pipe(File(::openat(folder.fd(), name, kPipe | O_NOFOLLOW)), place_.path);
    return;
  }
  try_out();
}

ReportFile::~ReportFile() { remove_temporary(); }

void ReportFile::try_out() {
  const File probe = open_temporary(open_folder());
  remove_temporary();
}

File ReportFile::open_folder() const {
  File folder = place_.open_folder();
  if (folder.fd() < 0) cannot_write(place_.path, errno);
  return folder;
}

// A file without a name goes away with the process, however that ends; where there is no such thing
// it gets a name at once.
File ReportFile::open_temporary(const File& folder) {
  if (unnamed_) {
    File file(::openat(folder.fd(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
    if (file.fd() >= 0) return file;
    // The last two are what systems answer that have never heard of it.
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) cannot_write(place_.path, errno);
    unnamed_ = false;
  }
  const std::string name = temporary_name();
  const std::lock_guard lock(mutex_);
  File file(::openat(folder.fd(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.fd() < 0) cannot_write(place_.path, errno);
  temporary_folder_ = File(::openat(folder.fd(), ".", kFolder));
  temporary_ = name;
  return file;
}

void ReportFile::remove_temporary() noexcept {
  const std::lock_guard lock(mutex_);
  if (!temporary_.empty()) ::unlinkat(temporary_folder_.fd(), temporary_.c_str(), 0);
  temporary_.clear();
}

void ReportFile::write(std::string_view text) {
  if (special_.fd() < 0) {
    try {
      replace(text);
    } catch (...) {
      remove_temporary();
      throw;
    }
  } else if (!write_all(special_.fd(), text, place_.path)) {
    cannot_write(place_.path, EPIPE);
  }
}

void ReportFile::replace(std::string_view text) {
  const File folder = open_folder();
  const File file = open_temporary(folder);
  if (!write_all(file.fd(), text, place_.path)) cannot_write(place_.path, EPIPE);
  struct stat old {};
  const char* name = place_.name.c_str();
  if (::fstatat(folder.fd(), name, &old, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(old.st_mode)) {
    // Not every file system has modes, and the report matters more.
    [[maybe_unused]] const int ignored = ::fchmod(file.fd(), old.st_mode & 0777);
  }
  if (::fsync(file.fd()) != 0) cannot_write(place_.path, errno);

  const std::lock_guard lock(mutex_);
  if (temporary_.empty()) {
    // A new name cannot take the place of a file; only renaming can.
    const std::string between = temporary_name();
    const std::string open_file = kOpenFiles + std::to_string(file.fd());
    if (::linkat(AT_FDCWD, open_file.c_str(), folder.fd(), between.c_str(), AT_SYMLINK_FOLLOW) !=
        0) {
      cannot_write(place_.path, errno);
    }
    temporary_folder_ = File(::openat(folder.fd(), ".", kFolder));
    temporary_ = between;
  }
  if (::renameat(folder.fd(), temporary_.c_str(), folder.fd(), name) != 0) {
    cannot_write(place_.path, errno);
  }
  temporary_.clear();
}

void ReportFile::abandon() noexcept {
  // A file system that does not answer must not keep the process alive.
  constexpr int kTries = 50;
  for (int i = 0; i < kTries; ++i) {
    if (mutex_.try_lock()) {
      if (!temporary_.empty()) ::unlinkat(temporary_folder_.fd(), temporary_.c_str(), 0);
      return;  // still locked: nothing may be renamed any more
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace swarmkv::cli
