#include "snapshot/temporary_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

// Writing beyond the process's limit of file sizes sends a signal that ends it. While this lives,
// this thread gets EFBIG alone.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal() {
    sigemptyset(&ours_);
    sigaddset(&ours_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &ours_, &before_);
  }
  ~NoFileSizeSignal() {
    const int error = errno;
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&ours_, nullptr, &at_once);  // ours, and it has been heard
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  sigset_t ours_{}, before_{};
  bool was_pending_ = false;
};

}  // namespace

TemporaryFile::TemporaryFile(const OpenFolder& folder) : folder_(folder) {
  // Whoever cleans up may meet the file before it is locked; then another one is made.
  constexpr int kMostTries = 16;
  for (int i = 0; i < kMostTries; ++i) {
    if (create()) return;
  }
  fail("cannot make a temporary file", EEXIST);
}

bool TemporaryFile::create() {
  name_ = temporary_name();
  file_ = FileHandle(folder_.calls().open_at(folder_.fd(), name_.c_str(),
                                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                             S_IRUSR | S_IWUSR),
                     folder_.calls());
  if (!file_.is_open()) {
    if (errno == EEXIST) return false;
    fail("cannot make a temporary file", errno);
  }
  // A file system without locks (other errors) has no cleaning either.
  const bool taken = !lock_alone(file_) && errno == EWOULDBLOCK;
  struct stat about {};
  if (!taken && folder_.calls().stat_of(file_.fd(), &about) == 0 && about.st_nlink > 0) return true;
  folder_.calls().unlink_at(folder_.fd(), name_.c_str());
  return false;
}

TemporaryFile::~TemporaryFile() {
  if (!name_.empty()) folder_.calls().unlink_at(folder_.fd(), name_.c_str());
}

void TemporaryFile::fail(const char* what, int error) const {
  throw Error(ErrorCode::kUnwritable,
              fmt::format("[snapshot.save] '{}': {}: {}", folder_.path(), what, error_text(error)));
}

void TemporaryFile::write(std::span<const std::uint8_t> bytes, const std::atomic<bool>* cancelled) {
  constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
  const NoFileSizeSignal quiet;
  while (!bytes.empty()) {
    if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed)) {
      throw Error(ErrorCode::kCancelled,
                  fmt::format("[snapshot.save] given up after {} bytes", n_written_));
    }
    const ssize_t n =
        folder_.calls().write(file_.fd(), bytes.data(), std::min(bytes.size(), kPieceBytes));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = n < 0 ? errno : ENOSPC;
      fail(fmt::format("cannot write beyond {} bytes", n_written_).c_str(), error);
    }
    n_written_ += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void TemporaryFile::commit(const std::string& name) {
  const SystemCalls& calls = folder_.calls();
  calls.set_used_now(file_.fd());
  if (calls.sync(file_.fd()) != 0) fail("cannot be synced to disk", errno);
  if (calls.rename_at(folder_.fd(), name_.c_str(), name.c_str()) != 0) {
    fail("a whole file cannot get its name", errno);
  }
  name_.clear();
  // If only this fails, the file is whole all the same; after a power cut it may not be there.
  calls.sync(folder_.fd());
}

}  // namespace swarmkv::internal
