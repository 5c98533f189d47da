// The thread around the scheduler's loop: submit from anywhere, results and text through an event
// thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "engine/context.h"
#include "swarmkv/report.h"
#include "swarmkv/request.h"

namespace swarmkv::internal {

struct SchedulerOptions {
  int n_parallel = 240;        ///< most requests holding a sequence at once
  bool deterministic = false;  ///< one request at a time on a fixed grid
  int grid = 512;              ///< chunk length in deterministic mode
  std::chrono::milliseconds decode_stall_target{
      400};                       ///< a prefill chunk beside decodes aims below this
  int min_accidental_match = 32;  ///< tokens an undeclared common prefix must gain
};

/// What a client of one request hears, on the event thread, in order, no lock held. May throw: it
/// is then not called again (the request goes on) and on_finished's result is unaffected.
class RequestListener {
 public:
  virtual ~RequestListener() = default;
  virtual void on_admitted(TimePoint) {}
  /// The request's declared prefix: n_computed of n_total tokens are in the cache. The last call
  /// has equality.
  virtual void on_prefix_progress(int /*n_computed*/, int /*n_total*/, TimePoint) {}
  virtual void on_first_token(TimePoint) {}
  virtual void on_text(std::string_view /*delta*/, int /*n_generated*/) {}
  virtual void on_preempted() {}
  virtual void on_finished(const Result&) {}
};

struct SchedulerStats {
  EngineCounters counters;
  std::int64_t prompt_tokens_computed = 0;  ///< prefix jobs + private prompt tails, first time
  std::int64_t tokens_recomputed = 0;       ///< after preemptions
  std::int64_t prefix_tokens_computed = 0;  ///< of the first, in tree nodes
  std::int64_t document_tokens_computed =
      0;  ///< of these, in declared prefixes: no shared tails of branches
  int peak_used_cells = 0, used_cells = 0, n_cells = 0;
  int n_preemptions = 0, n_evictions = 0;
  bool engine_failed = false;  ///< the context could not be used again
};

/// Thread-safe. The destructor cancels everything and joins within one forward.
class Scheduler {
 public:
  Scheduler(std::shared_ptr<const Model> model, std::unique_ptr<Context> context,
            SchedulerOptions options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  class Ticket;  ///< shared state of one submitted request: cancel(), wait()

  /// Thread-safe. errors as Engine::submit.
  std::shared_ptr<Ticket> submit(Request request, std::shared_ptr<RequestListener> listener = {});

  /// Counters since construction, exact: taken by the engine thread between two steps, so this may
  /// wait for one forward.
  [[nodiscard]] SchedulerStats stats() const;
  /// Runs `call`, which must not throw, on the event thread after everything delivered so far.
  void post(std::function<void()> call);
  [[nodiscard]] int n_cells() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class Scheduler::Ticket {
 public:
  void cancel();
  Result wait();
  [[nodiscard]] bool wait_for(std::chrono::milliseconds limit);

  struct State;
  explicit Ticket(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

}  // namespace swarmkv::internal
