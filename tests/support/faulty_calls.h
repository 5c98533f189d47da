// System calls that go wrong on purpose.
#pragma once

#include <atomic>
#include <cerrno>
#include <csignal>

#include "snapshot/system_calls.h"

namespace swarmkv::internal {

/// The nth call fails with an error, or ends the process as a power cut would; all others work. A
/// write that fails has written half of it before. Counted from 1; 0 = never.
class FaultyCalls final : public SystemCalls {
 public:
  enum class Fault { kError, kKill };
  FaultyCalls(int nth, Fault fault, int error = EIO) : nth_(nth), fault_(fault), error_(error) {}

  [[nodiscard]] int n_calls() const { return n_calls_; }

  int open_at(int folder, const char* name, int flags, mode_t mode) const override {
    return due() ? -1 : SystemCalls::open_at(folder, name, flags, mode);
  }
  int make_folder(const char* path, mode_t mode) const override {
    return due() ? -1 : SystemCalls::make_folder(path, mode);
  }
  int stat_of(int fd, struct stat* out) const override {
    return due() ? -1 : SystemCalls::stat_of(fd, out);
  }
  int stat_at(int folder, const char* name, struct stat* out) const override {
    return due() ? -1 : SystemCalls::stat_at(folder, name, out);
  }
  ssize_t read_at(int fd, void* to, std::size_t n, off_t offset) const override {
    return due() ? -1 : SystemCalls::read_at(fd, to, n, offset);
  }
  ssize_t write(int fd, const void* from, std::size_t n) const override {
    if (n_calls_ + 1 == nth_ && n > 1) (void)SystemCalls::write(fd, from, n / 2);
    return due() ? -1 : SystemCalls::write(fd, from, n);
  }
  int sync(int fd) const override { return due() ? -1 : SystemCalls::sync(fd); }
  int lock(int fd, int operation) const override {
    return due() ? -1 : SystemCalls::lock(fd, operation);
  }
  int set_used_now(int fd) const override { return due() ? -1 : SystemCalls::set_used_now(fd); }
  int rename_at(int folder, const char* from, const char* to) const override {
    return due() ? -1 : SystemCalls::rename_at(folder, from, to);
  }
  int unlink_at(int folder, const char* name) const override {
    return due() ? -1 : SystemCalls::unlink_at(folder, name);
  }
  void* map(int fd, std::size_t n) const override {
    // What mmap answers when it cannot.
    return due() ? reinterpret_cast<void*>(-1) : SystemCalls::map(fd, n);
  }

 private:
  bool due() const {
    if (++n_calls_ != nth_) return false;
    if (fault_ == Fault::kKill) std::raise(SIGKILL);
    errno = error_;
    return true;
  }

  mutable std::atomic<int> n_calls_ = 0;
  int nth_;
  Fault fault_;
  int error_;
};

}  // namespace swarmkv::internal
