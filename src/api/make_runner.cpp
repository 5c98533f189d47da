#include "api/make_runner.h"

#include <algorithm>
#include <utility>

#include "api/model_impl.h"
#include "api/options.h"
#include "handoff/serial_runner.h"
#include "schedule/scheduler.h"

namespace swarmkv::internal {
namespace {

// A pool without a plan: the training context, within reason.
int default_cells(const swarmkv::Model& model, const EngineOptions& options) {
  const ModelDescription d = model.describe();
  int n_cells = options.ctx_size > 0 ? options.ctx_size : std::min(d.n_ctx_train, 8192);
  const int limit = model.impl().options.fake_cells_limit;
  return limit > 0 ? std::min(n_cells, limit) : n_cells;
}

}  // namespace

std::unique_ptr<RequestRunner> make_runner(const swarmkv::Model& model,
                                           const EngineOptions& options) {
  const std::shared_ptr<const Model>& m = model.impl().model;
  ContextOptions context = context_options(options, m->info(), default_cells(model, options));
  const int grid = std::min(SchedulerOptions{}.grid,
                            options.batch_size);  // not the batch, which grows with agents
  const Handoff handoff = handoff_named(options.handoff);
  if (handoff == Handoff::kShared) {
    SchedulerOptions scheduler;
    scheduler.n_parallel = parallel_limit(options, m->info());
    scheduler.grid = grid;
    auto made = m->make_context(context);
    // Where nothing that a branch computes depends on its company, it need not be alone.
    scheduler.deterministic = options.deterministic && !made->batch_invariant();
    return std::make_unique<Scheduler>(m, std::move(made), scheduler);
  }
  context.n_seq_max = 2;  // the document and one agent
  context.n_batch = std::max(options.batch_size, context.n_seq_max);
  return std::make_unique<SerialRunner>(
      m, handoff, [m, context] { return m->make_context(context); },
      SerialOptions{options.deterministic, grid});
}

}  // namespace swarmkv::internal
