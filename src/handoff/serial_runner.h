// The original's ways of handing the state over, for comparison: requests in submit order, one at a
// time, each alone in what its arm gives it. Nothing is batched and nothing is preempted.
#pragma once

#include <memory>

#include "engine/context.h"
#include "handoff/arm.h"
#include "schedule/request_runner.h"

namespace swarmkv::internal {

struct SerialOptions {
  bool deterministic = false;  ///< cuts where the scheduler cuts then, so that token ids are equal
  int grid = 512;              ///< as SchedulerOptions::grid
};

/// Thread-safe. Priorities are ignored. The destructor cancels everything and joins within one
/// forward, save or restore.
class SerialRunner final : public RequestRunner {
 public:
  /// Makes the arm's first context.
  /// errors  as Model::make_context
  SerialRunner(std::shared_ptr<const Model> model, Handoff handoff, ContextFactory factory,
               SerialOptions options);
  ~SerialRunner() override;
  SerialRunner(const SerialRunner&) = delete;
  SerialRunner& operator=(const SerialRunner&) = delete;

  using RequestRunner::submit;
  std::shared_ptr<RequestTicket> submit(Request request,
                                        std::shared_ptr<RequestListener> listener) override;
  [[nodiscard]] SchedulerStats stats() const override;
  [[nodiscard]] int n_cells() const override;
  [[nodiscard]] AttentionUse attention() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace swarmkv::internal
