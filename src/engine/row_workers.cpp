#include "engine/row_workers.h"

#include <system_error>

namespace swarmkv::internal {

RowWorkers::~RowWorkers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void RowWorkers::start() {
  started_ = true;
  try {
    for (int worker = 1; worker < n_threads_; ++worker) {
      threads_.emplace_back([this, worker] { loop(worker); });
    }
  } catch (const std::system_error&) {
    // Those that could be started, and the caller, do the work.
  }
}

void RowWorkers::run(int n_rows, const std::function<void(int, int)>& work) {
  if (!started_) start();
  std::unique_lock lock(mutex_);
  work_ = &work;
  next_row_ = 0;
  n_rows_ = n_rows;
  failure_ = nullptr;
  ++round_;
  ++n_busy_;
  lock.unlock();
  wake_.notify_all();
  take_rows(0);
  lock.lock();
  --n_busy_;
  // Workers that have not woken yet find no row left and never touch `work`.
  done_.wait(lock, [this] { return n_busy_ == 0; });
  work_ = nullptr;
  if (failure_) std::rethrow_exception(failure_);
}

void RowWorkers::loop(int worker) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    if (work_ == nullptr || next_row_ >= n_rows_) continue;
    ++n_busy_;
    lock.unlock();
    take_rows(worker);
    lock.lock();
    if (--n_busy_ == 0) done_.notify_all();
  }
}

void RowWorkers::take_rows(int worker) {
  while (true) {
    int row = 0;
    const std::function<void(int, int)>* work = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (next_row_ >= n_rows_) return;
      row = next_row_++;
      work = work_;
    }
    try {
      (*work)(row, worker);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }
}

}  // namespace swarmkv::internal
