// A fixed number of threads that run the pipeline's function nodes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "orchestrate/node_runner.h"

namespace swarmkv::internal {

/// Thread-safe. A function may start and await a run of another engine or pool. It must not wait
/// for something submitted to its own pool: with all threads waiting nobody is left to do it.
class FunctionPool {
 public:
  using Function = std::function<std::string()>;
  /// Called once for every task, on the thread that knows: a pool thread, cancel()'s or the
  /// destructor's. Must not throw.
  using Done = std::function<void(NodeOutcome)>;
  using TaskId = std::uint64_t;
  /// How threads are made; a test can make it fail.
  using ThreadFactory = std::function<std::thread(std::function<void()>)>;

  /// errors  kInvalidArgument  n_threads < 1
  ///         kDoesNotFit       the system gives no more threads; those already started are joined
  explicit FunctionPool(int n_threads, const ThreadFactory& make_thread = {});
  /// Tasks that have not begun end as cancelled; waits for those that have.
  ~FunctionPool();
  FunctionPool(const FunctionPool&) = delete;
  FunctionPool& operator=(const FunctionPool&) = delete;

  /// Never blocks. Whatever `function` throws becomes a failed outcome that names `name`.
  TaskId submit(std::string name, Function function, Done done);

  /// Ends a task that has not begun as cancelled. False if it has begun: a function cannot be
  /// interrupted.
  bool cancel(TaskId task);

  [[nodiscard]] int n_threads() const { return static_cast<int>(threads_.size()); }

 private:
  struct Task {
    TaskId id = 0;
    std::string name;
    Function function;
    Done done;
  };

  void work();
  void stop_and_join();

  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Task> queue_ GUARDED_BY(mutex_);
  TaskId next_id_ GUARDED_BY(mutex_) = 1;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace swarmkv::internal
