// std::mutex with names Clang's thread-safety analysis understands; with other compilers the marks
// vanish.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define SWARMKV_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define SWARMKV_THREAD_ANNOTATION(x)
#endif
#define GUARDED_BY(m) SWARMKV_THREAD_ANNOTATION(guarded_by(m))
#define REQUIRES(m) SWARMKV_THREAD_ANNOTATION(requires_capability(m))

namespace swarmkv::internal {

class SWARMKV_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() SWARMKV_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() SWARMKV_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class SWARMKV_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& m) SWARMKV_THREAD_ANNOTATION(acquire_capability(m)) : mutex_(m) {
    mutex_.lock();
  }
  ~MutexLock() SWARMKV_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// Waits while the caller holds the Mutex. Callers loop on their condition: the analysis does not
/// look into lambdas.
class ConditionVariable {
 public:
  void wait(Mutex& m) REQUIRES(m) { condition_.wait(m); }
  std::cv_status wait_until(Mutex& m, std::chrono::steady_clock::time_point t) REQUIRES(m) {
    return condition_.wait_until(m, t);
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable_any condition_;
};

}  // namespace swarmkv::internal
