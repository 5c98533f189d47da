// The thread around the scheduler's loop: submit from anywhere, results and text through an event
// thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "engine/context.h"
#include "schedule/request_runner.h"

namespace swarmkv::internal {

struct SchedulerOptions {
  int n_parallel = 240;        ///< most requests holding a sequence at once
  bool deterministic = false;  ///< one request at a time on a fixed grid
  int grid = 512;              ///< chunk length in deterministic mode
  std::chrono::milliseconds decode_stall_target{
      400};                       ///< a prefill chunk beside decodes aims below this
  int min_accidental_match = 32;  ///< tokens an undeclared common prefix must gain
};

/// Thread-safe. The destructor cancels everything and joins within one forward.
class Scheduler final : public RequestRunner {
 public:
  Scheduler(std::shared_ptr<const Model> model, std::unique_ptr<Context> context,
            SchedulerOptions options);
  ~Scheduler() override;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  using RequestRunner::submit;
  std::shared_ptr<RequestTicket> submit(Request request,
                                        std::shared_ptr<RequestListener> listener) override;
  [[nodiscard]] SchedulerStats stats() const override;
  [[nodiscard]] int n_cells() const override;
  [[nodiscard]] AttentionUse attention() const override;
  [[nodiscard]] std::shared_ptr<const void> gather() override;
  [[nodiscard]] bool takes_stored_prefixes() const override { return true; }
  [[nodiscard]] StateIdentity state_identity() override;
  [[nodiscard]] int grid() const override;
  std::shared_ptr<const void> offer(StoredPrefix stored) override;
  std::shared_ptr<CaptureTicket> capture_later(CaptureRequest request) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace swarmkv::internal
