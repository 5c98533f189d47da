// How requests come in: what clients of any thread hand to the one thread that computes, and the
// ticket they hold meanwhile. The scheduler and the arms in handoff/ take the same way.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "engine/model.h"
#include "schedule/branch.h"
#include "schedule/delivery.h"
#include "schedule/request_runner.h"

namespace swarmkv::internal {

/// Outlives its runner as long as a ticket needs it. Thread-safe.
class Inbox : public std::enable_shared_from_this<Inbox> {
 public:
  /// Makes a branch of a request that was checked, and a ticket for it.
  /// errors  kInvalidArgument  bad sampling
  std::shared_ptr<RequestTicket> submit(const Model& model, Delivery& delivery, Request request,
                                        std::shared_ptr<RequestListener> listener);
  /// As RequestRunner::gather.
  std::shared_ptr<const void> gather();
  void cancel(std::uint64_t id);
  void let_go(std::uint64_t id);
  void stop();
  std::future<SchedulerStats> ask_stats();
  /// Runs `call` on the runner's thread between two forwards. False: it is stopping, and does not.
  bool call(std::function<void()> call);

  struct News {
    std::vector<std::unique_ptr<Branch>> submitted;
    std::vector<std::uint64_t> cancelled, let_go;
    std::vector<std::promise<SchedulerStats>> asked;
    std::vector<std::function<void()>> calls;
    bool stop = false;
  };
  /// What came in; waits for something if `idle`. While somebody gathers, requests and what
  /// concerns them stay here.
  News take(bool idle);

 private:
  std::atomic<std::uint64_t> next_id_{0};
  Mutex mutex_;
  ConditionVariable wake_;
  std::vector<std::unique_ptr<Branch>> submitted_ GUARDED_BY(mutex_);
  std::vector<std::uint64_t> cancelled_ GUARDED_BY(mutex_), let_go_ GUARDED_BY(mutex_);
  std::vector<std::promise<SchedulerStats>> asked_ GUARDED_BY(mutex_);
  std::vector<std::function<void()>> calls_ GUARDED_BY(mutex_);
  int n_gathering_ GUARDED_BY(mutex_) = 0;
  bool stop_ GUARDED_BY(mutex_) = false;
};

}  // namespace swarmkv::internal
