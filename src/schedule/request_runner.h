// Whoever runs requests: the scheduler, or one of the arms in handoff/ that it is compared with.
// Clients know this interface and nothing behind it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/state.h"
#include "engine/types.h"
#include "schedule/stored_prefix.h"
#include "swarmkv/report.h"
#include "swarmkv/request.h"

namespace swarmkv::internal {

/// How much of a request's declared prefix is in the cache.
struct PrefixProgress {
  int n_computed = 0, n_total = 0;
  /// When the forward began that brought the news; unset if none did: it was there, or restored.
  std::optional<TimePoint> began;
  TimePoint t;
};

/// What a client of one request hears, on the event thread, in order, no lock held. It must not
/// block: all requests of the engine share that thread. May throw: it is then not called again (the
/// request goes on) and on_finished's result is unaffected.
class RequestListener {
 public:
  virtual ~RequestListener() = default;
  virtual void on_admitted(TimePoint) {}
  /// The last call has all of n_total.
  virtual void on_prefix_progress(const PrefixProgress&) {}
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
  std::uint64_t peak_kv_bytes = 0;  ///< KV buffers and saved states that were there at once
  int n_preemptions = 0, n_evictions = 0;
  int n_restores = 0;          ///< prefixes that were loaded instead of computed
  bool engine_failed = false;  ///< the context could not be used again
};

/// One submitted request. Thread-safe. What a request with `keep` left in the cache is let go of
/// with its ticket.
class RequestTicket {
 public:
  virtual ~RequestTicket() = default;
  virtual void cancel() = 0;
  virtual Result wait() = 0;
  [[nodiscard]] virtual bool wait_for(std::chrono::milliseconds limit) = 0;
};

/// Thread-safe. The destructor cancels everything and joins within one forward.
class RequestRunner {
 public:
  virtual ~RequestRunner() = default;

  /// errors as Engine::submit.
  virtual std::shared_ptr<RequestTicket> submit(Request request,
                                                std::shared_ptr<RequestListener> listener) = 0;
  std::shared_ptr<RequestTicket> submit(Request request) { return submit(std::move(request), {}); }

  /// What is submitted until the answer is dropped, by anybody, reaches the engine at once:
  /// requests that belong together then begin in one forward. To be held briefly; drop it before
  /// waiting for a request. A runner of one request at a time has no use for it.
  [[nodiscard]] virtual std::shared_ptr<const void> gather() { return {}; }

  /// Counters since construction, exact: taken by the engine thread between two steps, so this may
  /// wait for one forward.
  [[nodiscard]] virtual SchedulerStats stats() const = 0;
  [[nodiscard]] virtual int n_cells() const = 0;
  /// Which attention kernel its contexts use.
  [[nodiscard]] virtual AttentionUse attention() const { return {}; }

  // Prefixes outside of the cache. Only a runner that shares its cache has a use for them.
  [[nodiscard]] virtual bool takes_stored_prefixes() const { return false; }
  /// What states of its context depend on; waits for at most one forward.
  /// errors  kUnsupported (a runner without), kEngineFailed
  [[nodiscard]] virtual StateIdentity state_identity();
  /// Forwards of a prefix end at its multiples (deterministic mode); 0 = they follow from the load.
  [[nodiscard]] virtual int grid() const { return 0; }
  /// From when this returns until its answer is dropped. Requests submitted afterwards find it.
  /// errors  kUnsupported (a runner without)
  virtual std::shared_ptr<const void> offer(StoredPrefix stored);
  /// errors  kUnsupported (a runner without)
  virtual std::shared_ptr<CaptureTicket> capture_later(CaptureRequest request);
};

}  // namespace swarmkv::internal
