#include <utility>

#include "api/engine_impl.h"
#include "api/make_runner.h"
#include "api/run_impl.h"

namespace swarmkv {
namespace {

class TextListener final : public internal::RequestListener {
 public:
  explicit TextListener(Engine::TextCallback callback) : callback_(std::move(callback)) {}
  void on_text(std::string_view delta, int) override { callback_(delta); }

 private:
  Engine::TextCallback callback_;
};

}  // namespace

Engine::Impl::Impl(const Model& m, const EngineOptions& o, internal::SnapshotHost host)
    : model(m),
      options(o),
      snapshot_host(std::move(host)),
      runner(internal::make_runner(m, o)),
      pool(o.function_threads) {}

void Engine::Impl::enter(Run::Impl* run) {
  const internal::MutexLock lock(mutex_);
  runs_.insert(run);
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
Result RequestHandle::wait() { return impl_->ticket->wait(); }
bool RequestHandle::wait_for(std::chrono::milliseconds limit) {
  return impl_->ticket->wait_for(limit);
}

RequestHandle Engine::submit(Request request, TextCallback on_text) {
  std::shared_ptr<internal::RequestListener> listener;
  if (on_text) listener = std::make_shared<TextListener>(std::move(on_text));
  auto impl = std::make_shared<RequestHandle::Impl>();
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
