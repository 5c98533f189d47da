#include "schedule/scheduler.h"

#include <algorithm>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "schedule/core.h"
#include "schedule/inbox.h"

namespace swarmkv::internal {
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
      Inbox::News news = inbox->take(idle);
      if (idle) core.add_idle(seconds(before, now()));
      // Apart from each other: what one of them throws must not lose the news of the others.
      for (auto& branch : news.submitted) guarded([&] { core.submit(std::move(branch)); });
      for (const std::uint64_t id : news.cancelled) {
        guarded([&] { core.cancel(id, "[schedule] cancelled"); });
      }
      for (const std::uint64_t id : news.let_go) guarded([&] { core.let_go(id); });
      if (news.stop) guarded([&] { core.cancel_all("[schedule] the engine was shut down"); });
      for (auto& promise : news.asked) promise.set_value(stats());
      if (news.stop && core.idle()) return;
      guarded([&] { core.step(); });
    }
  }

  template <typename Call>
  void guarded(Call call) noexcept {
    try {
      call();
    } catch (const std::exception& e) {
      give_up(e.what());
    } catch (...) {
      give_up("unknown exception");
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
    const double spent = seconds(started, now());
    EngineCounters& t = stats.counters;
    t.other_s = std::max(0.0, spent - t.forward_s - t.sample_s - t.fork_s - t.idle_s);
    return stats;
  }

  std::shared_ptr<const Model> model;
  std::unique_ptr<Context> context;
  Delivery delivery;
  std::shared_ptr<Inbox> inbox = std::make_shared<Inbox>();
  const TimePoint started = now();
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

std::shared_ptr<RequestTicket> Scheduler::submit(Request request,
                                                 std::shared_ptr<RequestListener> listener) {
  impl_->core.check(request);
  return impl_->inbox->submit(*impl_->model, impl_->delivery, std::move(request),
                              std::move(listener));
}

SchedulerStats Scheduler::stats() const { return impl_->inbox->ask_stats().get(); }

void Scheduler::post(std::function<void()> call) { impl_->delivery.post(std::move(call)); }

int Scheduler::n_cells() const { return impl_->context->n_cells(); }

AttentionUse Scheduler::attention() const { return impl_->context->attention(); }

}  // namespace swarmkv::internal
