// A fixed set of threads that share out the rows of one step. They exist because some samplers take
// a good part of a millisecond per row (sorting a vocabulary, walking a grammar); starting threads
// anew for every step would cost as much as it saves.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace swarmkv::internal {

class RowWorkers {
 public:
  /// The caller of run() is one of the `n_threads`; the others start with the first run(). Where
  /// the system gives no more threads, fewer do the work.
  explicit RowWorkers(int n_threads) : n_threads_(n_threads < 1 ? 1 : n_threads) {}
  ~RowWorkers();
  RowWorkers(const RowWorkers&) = delete;
  RowWorkers& operator=(const RowWorkers&) = delete;

  /// Calls work(row, worker) once for every row in [0, n_rows), worker in [0, n_threads()), and
  /// returns when all are done. The first exception is thrown again, after the others have ended.
  void run(int n_rows, const std::function<void(int row, int worker)>& work);

  [[nodiscard]] int n_threads() const { return n_threads_; }

 private:
  void start();
  void loop(int worker);
  void take_rows(int worker);

  const int n_threads_;
  bool started_ = false;
  std::vector<std::thread> threads_;

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(int, int)>* work_ = nullptr;
  std::uint64_t round_ = 0;
  int next_row_ = 0, n_rows_ = 0, n_busy_ = 0;
  bool stop_ = false;
  std::exception_ptr failure_;
};

}  // namespace swarmkv::internal
