#include <utility>

#include "api/engine_impl.h"
#include "api/make_runner.h"
#include "api/run_impl.h"
#include "base/deadline.h"

namespace swarmkv {

Engine::Impl::Impl(const Model& m, const EngineOptions& o, internal::SnapshotHost host)
    : model(m),
      options(o),
      snapshot_host(std::move(host)),
      runner(internal::make_runner(m, o)),
      pool(o.function_threads) {}

Engine::Impl::~Impl() = default;

void Engine::Impl::enter(Run::Impl* run) {
  std::vector<std::unique_ptr<Run::Impl>> over;  // destroyed after the lock is let go
  const internal::MutexLock lock(mutex_);
  for (auto& dropped : dropped_) {
    if (dropped->wait_for(std::chrono::milliseconds(0))) over.push_back(std::move(dropped));
  }
  std::erase(dropped_, nullptr);
  runs_.insert(run);
}

void Engine::Impl::keep_until_over(std::unique_ptr<Run::Impl> run) {
  const internal::MutexLock lock(mutex_);
  dropped_.push_back(std::move(run));
}

void Engine::Impl::leave(Run::Impl* run) {
  const internal::MutexLock lock(mutex_);
  runs_.erase(run);
  changed_.notify_all();
}

void Engine::Impl::cancel_runs_and_wait() {
  const internal::MutexLock lock(mutex_);
  for (Run::Impl* run : runs_) run->cancel("cancelled: the engine was closed");
  while (!runs_.empty()) changed_.wait(mutex_);
}

Engine::Engine(const Model& model, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&& other) noexcept {
  if (impl_ != nullptr) impl_->cancel_runs_and_wait();
  impl_ = std::move(other.impl_);
  return *this;
}
Engine::~Engine() {
  if (impl_ != nullptr) impl_->cancel_runs_and_wait();
}

struct RequestHandle::Impl {
  std::shared_ptr<internal::RequestTicket> ticket;
  std::shared_ptr<internal::TextCall> text;  ///< null without a callback
};

RequestHandle::RequestHandle(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
RequestHandle::RequestHandle(RequestHandle&&) noexcept = default;
RequestHandle& RequestHandle::operator=(RequestHandle&& other) noexcept {
  if (impl_ != nullptr) impl_->ticket->cancel();
  impl_ = std::move(other.impl_);
  return *this;
}
RequestHandle::~RequestHandle() {
  if (impl_ != nullptr) impl_->ticket->cancel();
}
void RequestHandle::cancel() { impl_->ticket->cancel(); }
Result RequestHandle::wait() {
  Result result = impl_->ticket->wait();
  if (impl_->text != nullptr) impl_->text->wait();
  return result;
}
bool RequestHandle::wait_for(std::chrono::milliseconds limit) {
  const auto until = internal::deadline_after(std::chrono::steady_clock::now(), limit);
  if (!impl_->ticket->wait_for(limit)) return false;
  return impl_->text == nullptr || impl_->text->wait_until(until);
}

RequestHandle Engine::submit(Request request, TextCallback on_text) {
  auto impl = std::make_shared<RequestHandle::Impl>();
  std::shared_ptr<internal::RequestListener> listener;
  if (on_text) {
    impl_->text_thread.begin();
    impl->text = std::make_shared<internal::TextCall>(impl_->text_thread, std::move(on_text));
    listener = internal::TextCall::listener(impl->text);
  }
  impl->ticket = impl_->runner->submit(std::move(request), std::move(listener));
  return RequestHandle(std::move(impl));
}

Run Engine::run(const Pipeline& pipeline, const RunOptions& options) {
  const TimePoint clock_zero = std::chrono::steady_clock::now();
  return Run(std::make_unique<Run::Impl>(
      *impl_, internal::prepare(impl_->model.impl().model, pipeline, options), options,
      clock_zero));
}

Run Engine::run(const Plan& plan, const RunOptions& options) {
  const bool is_ours =
      plan.prepared != nullptr && plan.prepared->model == impl_->model.impl().model;
  if (!is_ours) {
    throw Error(ErrorCode::kInvalidArgument,
                "[engine.run] the plan was not made with this engine's model");
  }
  return Run(std::make_unique<Run::Impl>(*impl_, plan.prepared, options,
                                         std::chrono::steady_clock::now()));
}

int Engine::ctx_size() const { return impl_->runner->n_cells(); }
EngineCounters Engine::counters() const { return impl_->runner->stats().counters; }

}  // namespace swarmkv
