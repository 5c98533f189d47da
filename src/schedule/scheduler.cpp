#include "schedule/scheduler.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "schedule/core.h"
#include "schedule/inbox.h"

namespace swarmkv::internal {
struct Scheduler::Impl {
  Impl(std::shared_ptr<const Model> m, std::unique_ptr<Context> c, SchedulerOptions o)
      : model(std::move(m)),
        context(std::move(c)),
        options(o),
        n_batch(context->batch_limits().n_tokens),
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
      for (const auto& call : news.calls) guarded(call);
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
    } catch (const std::bad_alloc&) {
      give_up("memory did not suffice", "");
    } catch (const std::exception& e) {
      give_up("internal error: ", e.what());
    } catch (...) {
      give_up("internal error: ", "unknown exception");
    }
  }

  // A bug of ours or an engine that throws where it must not: nobody may wait for ever because of
  // it. If even this lacks memory, the next step() tries again.
  void give_up(const char* what, const char* why) noexcept {
    try {
      core.give_up_context(std::string("[schedule] ") + what + why);
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

  // The answer of `question`, which runs on the engine thread between two forwards.
  template <typename Answer, typename Question>
  Answer ask(Question question) {
    auto promise = std::make_shared<std::promise<Answer>>();
    std::future<Answer> future = promise->get_future();
    const bool runs = inbox->call([promise, question = std::move(question)] {
      try {
        promise->set_value(question());
      } catch (...) {
        promise->set_exception(std::current_exception());
      }
    });
    if (!runs) throw Error(ErrorCode::kCancelled, "[schedule] the engine was shut down");
    return future.get();
  }

  std::shared_ptr<const Model> model;
  std::unique_ptr<Context> context;
  const SchedulerOptions options;
  const int n_batch;
  std::atomic<std::uint64_t> next_id{0};  ///< of offers and captures
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

std::shared_ptr<const void> Scheduler::gather() { return impl_->inbox->gather(); }

SchedulerStats Scheduler::stats() const { return impl_->inbox->ask_stats().get(); }

int Scheduler::n_cells() const { return impl_->context->n_cells(); }

AttentionUse Scheduler::attention() const { return impl_->context->attention(); }

StateIdentity Scheduler::state_identity() {
  return impl_->ask<StateIdentity>([impl = impl_.get()] { return impl->context->identity(); });
}

int Scheduler::grid() const {
  const SchedulerOptions& options = impl_->options;
  return options.deterministic ? std::min(options.grid, impl_->n_batch) : 0;
}

// Calls and requests take the same way, so what is offered is there before what is submitted later.
std::shared_ptr<const void> Scheduler::offer(StoredPrefix stored) {
  class Offer {
   public:
    Offer(std::uint64_t id, std::shared_ptr<Inbox> inbox, SchedulerCore& core)
        : id_(id), inbox_(std::move(inbox)), core_(core) {}
    ~Offer() {
      (void)inbox_->call([&core = core_, id = id_] { core.withdraw(id); });
    }
    Offer(const Offer&) = delete;
    Offer& operator=(const Offer&) = delete;

   private:
    const std::uint64_t id_;
    const std::shared_ptr<Inbox> inbox_;
    SchedulerCore& core_;
  };
  const std::uint64_t id = impl_->next_id++;
  auto shared = std::make_shared<const StoredPrefix>(std::move(stored));
  (void)impl_->inbox->call(
      [&core = impl_->core, id, shared = std::move(shared)] { core.offer(id, shared); });
  return std::make_shared<Offer>(id, impl_->inbox, impl_->core);
}

std::shared_ptr<CaptureTicket> Scheduler::capture_later(CaptureRequest request) {
  class Ticket final : public CaptureTicket {
   public:
    Ticket(std::uint64_t id, std::shared_ptr<Inbox> inbox, Impl& impl)
        : id_(id), inbox_(std::move(inbox)), impl_(impl) {}
    ~Ticket() override {
      (void)inbox_->call([&core = impl_.core, id = id_] { core.want_no_more(id); });
    }
    void settle() override {
      (void)impl_.ask<bool>([&core = impl_.core, id = id_] {
        core.settle(id);
        return true;
      });
    }

   private:
    const std::uint64_t id_;
    const std::shared_ptr<Inbox> inbox_;
    Impl& impl_;
  };
  const std::uint64_t id = impl_->next_id++;
  (void)impl_->inbox->call(
      [&core = impl_->core, id, request = std::move(request)] { core.want(id, request); });
  return std::make_shared<Ticket>(id, impl_->inbox, *impl_);
}

}  // namespace swarmkv::internal
