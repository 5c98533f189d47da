#include "orchestrate/function_pool.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

NodeOutcome run_function(const std::string& name, const FunctionPool::Function& function) {
  NodeOutcome outcome;
  const std::string label = "[function." + name + "] ";
  try {
    outcome.answer = function();
    outcome.status = NodeOutcome::Status::kFinished;
  } catch (const Error& error) {
    outcome.error_code = error.code();
    outcome.error = label + error.what();
  } catch (const std::exception& error) {
    outcome.error = label + error.what();
  } catch (...) {
    outcome.error = label + "threw something that is not a std::exception";
  }
  return outcome;
}

NodeOutcome not_begun(const std::string& name) {
  NodeOutcome outcome;
  outcome.status = NodeOutcome::Status::kCancelled;
  outcome.error_code = ErrorCode::kCancelled;
  outcome.error = "[function." + name + "] cancelled before it began";
  return outcome;
}

}  // namespace

FunctionPool::FunctionPool(int n_threads, const ThreadFactory& make_thread) {
  if (n_threads < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "[orchestrate.pool] at least 1 thread, not " + std::to_string(n_threads));
  }
  threads_.reserve(static_cast<std::size_t>(n_threads));
  try {
    for (int i = 0; i < n_threads; ++i) {
      threads_.push_back(make_thread ? make_thread([this] { work(); })
                                     : std::thread([this] { work(); }));
    }
  } catch (const std::system_error& error) {
    const std::size_t n_started = threads_.size();
    stop_and_join();
    throw Error(ErrorCode::kDoesNotFit,
                "[orchestrate.pool] cannot start thread " + std::to_string(n_started + 1) + " of " +
                    std::to_string(n_threads) + ": " + error.what() +
                    "; raise the limits on threads and memory (ulimit -u, -v)");
  } catch (...) {
    stop_and_join();
    throw;
  }
}

FunctionPool::~FunctionPool() { stop_and_join(); }

void FunctionPool::stop_and_join() {
  std::deque<Task> dropped;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
  }
  changed_.notify_all();
  for (const Task& task : dropped) task.done(not_begun(task.name));
  for (std::thread& thread : threads_) thread.join();
}

FunctionPool::TaskId FunctionPool::submit(std::string name, Function function, Done done) {
  Task task{0, std::move(name), std::move(function), std::move(done)};
  {
    const MutexLock lock(mutex_);
    task.id = next_id_++;
    if (!stopping_) {
      const TaskId id = task.id;
      queue_.push_back(std::move(task));
      changed_.notify_one();
      return id;
    }
  }
  // A function that is still running submits to a pool that is going away.
  task.done(not_begun(task.name));
  return task.id;
}

bool FunctionPool::cancel(TaskId id) {
  Task task;
  {
    const MutexLock lock(mutex_);
    const auto found =
        std::find_if(queue_.begin(), queue_.end(), [&](const Task& t) { return t.id == id; });
    if (found == queue_.end()) return false;
    task = std::move(*found);
    queue_.erase(found);
  }
  task.done(not_begun(task.name));
  return true;
}

void FunctionPool::work() {
  for (;;) {
    Task task;
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && queue_.empty()) changed_.wait(mutex_);
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    NodeOutcome outcome = run_function(task.name, task.function);
    // Dropped before anybody hears of the end: what the function captured is gone by then.
    task.function = nullptr;
    task.done(std::move(outcome));
  }
}

}  // namespace swarmkv::internal
