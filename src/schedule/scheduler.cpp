#include "schedule/scheduler.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "base/mutex.h"
#include "schedule/core.h"
#include "schedule/delivery.h"

namespace swarmkv::internal {
namespace {

TimePoint now() { return std::chrono::steady_clock::now(); }

}  // namespace

// What clients hand to the engine thread. Outlives the scheduler as long as a ticket needs it.
class Inbox {
 public:
  void submit(std::unique_ptr<Branch> branch) {
    {
      const MutexLock lock(mutex_);
      submitted_.push_back(std::move(branch));
    }
    wake_.notify_one();
  }

  void cancel(std::uint64_t id) {
    {
      const MutexLock lock(mutex_);
      cancelled_.push_back(id);
    }
    wake_.notify_one();
  }

  void stop() {
    {
      const MutexLock lock(mutex_);
      stop_ = true;
    }
    wake_.notify_one();
  }

  std::future<SchedulerStats> ask_stats() {
    std::promise<SchedulerStats> promise;
    auto future = promise.get_future();
    {
      const MutexLock lock(mutex_);
      asked_.push_back(std::move(promise));
    }
    wake_.notify_one();
    return future;
  }

  struct News {
    std::vector<std::unique_ptr<Branch>> submitted;
    std::vector<std::uint64_t> cancelled;
    std::vector<std::promise<SchedulerStats>> asked;
    bool stop = false;
  };

  /// What came in; waits for something if `idle`, but not past `until`.
  News take(bool idle, std::optional<TimePoint> until) {
    const MutexLock lock(mutex_);
    while (idle && submitted_.empty() && cancelled_.empty() && asked_.empty() && !stop_) {
      if (!until) {
        wake_.wait(mutex_);
      } else if (wake_.wait_until(mutex_, *until) == std::cv_status::timeout) {
        break;
      }
    }
    return {std::exchange(submitted_, {}), std::exchange(cancelled_, {}), std::exchange(asked_, {}),
            stop_};
  }

 private:
  Mutex mutex_;
  ConditionVariable wake_;
  std::vector<std::unique_ptr<Branch>> submitted_ GUARDED_BY(mutex_);
  std::vector<std::uint64_t> cancelled_ GUARDED_BY(mutex_);
  std::vector<std::promise<SchedulerStats>> asked_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;
};

struct Scheduler::Ticket::State {
  std::uint64_t id = 0;
  std::shared_ptr<Inbox> inbox;
  std::shared_ptr<Mailbox> mailbox;
};

void Scheduler::Ticket::cancel() { state_->inbox->cancel(state_->id); }
Result Scheduler::Ticket::wait() { return state_->mailbox->wait(); }
bool Scheduler::Ticket::wait_for(std::chrono::milliseconds limit) {
  return state_->mailbox->wait_for(limit);
}

struct Scheduler::Impl {
  Impl(std::shared_ptr<const Model> m, std::unique_ptr<Context> c, SchedulerOptions options)
      : model(std::move(m)),
        context(std::move(c)),
        core(*model, *context, options, now),
        engine_thread([this] { run(); }) {}

  void run() {
    while (true) {
      const bool idle = core.idle();
      const TimePoint before = now();
      Inbox::News news = inbox->take(idle, core.next_deadline());
      if (idle) core.add_idle(std::chrono::duration<double>(now() - before).count());
      try {
        for (auto& branch : news.submitted) core.submit(std::move(branch));
        for (const std::uint64_t id : news.cancelled) core.cancel(id, "[schedule] cancelled");
        if (news.stop) core.cancel_all("[schedule] the engine was shut down");
        for (auto& promise : news.asked) promise.set_value(stats());
        if (news.stop) return;
        core.step();
      } catch (const std::exception& e) {
        give_up(e.what());
      } catch (...) {
        give_up("unknown exception");
      }
    }
  }

  // A bug of ours or an engine that throws where it must not: nobody may wait for ever because of
  // it. If even this lacks memory, the next step() tries again.
  void give_up(const char* what) noexcept {
    try {
      core.give_up_context(std::string("[schedule] internal error: ") + what);
    } catch (...) {
    }
  }

  SchedulerStats stats() const {
    SchedulerStats stats = core.stats();
    const double spent = std::chrono::duration<double>(now() - started).count();
    EngineCounters& t = stats.counters;
    t.other_s = std::max(0.0, spent - t.forward_s - t.sample_s - t.fork_s - t.idle_s);
    return stats;
  }

  std::shared_ptr<const Model> model;
  std::unique_ptr<Context> context;
  Delivery delivery;
  std::shared_ptr<Inbox> inbox = std::make_shared<Inbox>();
  const TimePoint started = now();
  std::atomic<std::uint64_t> next_id{0};
  SchedulerCore core;         // engine thread only, but for check()
  std::thread engine_thread;  // last: it uses all of the above
};

Scheduler::Scheduler(std::shared_ptr<const Model> model, std::unique_ptr<Context> context,
                     SchedulerOptions options)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(context), options)) {}

Scheduler::~Scheduler() {
  impl_->inbox->stop();
  impl_->context->abort();  // a forward in progress ends at once where the engine can
  impl_->engine_thread.join();
}

std::shared_ptr<Scheduler::Ticket> Scheduler::submit(Request request,
                                                     std::shared_ptr<RequestListener> listener) {
  impl_->core.check(request);
  auto sampler = impl_->model->make_sampler(request.sampling);
  auto state = std::make_shared<Ticket::State>();
  state->id = impl_->next_id++;
  state->inbox = impl_->inbox;
  state->mailbox = std::make_shared<Mailbox>(impl_->delivery, std::move(listener));
  auto branch =
      std::make_unique<Branch>(state->id, std::move(request), std::move(sampler), state->mailbox);
  branch->result.enqueued = now();
  if (branch->request.timeout.count() > 0) {
    branch->deadline = deadline_after(*branch->result.enqueued, branch->request.timeout);
  }
  impl_->inbox->submit(std::move(branch));
  return std::make_shared<Ticket>(std::move(state));
}

SchedulerStats Scheduler::stats() const { return impl_->inbox->ask_stats().get(); }

void Scheduler::post(std::function<void()> call) { impl_->delivery.post(std::move(call)); }

int Scheduler::n_cells() const { return impl_->context->n_cells(); }

}  // namespace swarmkv::internal
