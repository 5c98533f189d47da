#include <algorithm>
#include <functional>
#include <numeric>

#include "api/model_impl.h"
#include "api/options.h"
#include "api/prepare.h"
#include "base/process_info.h"
#include "handoff/handoff.h"

namespace swarmkv {

Plan make_plan(const Model& model, const Pipeline& pipeline, const EngineOptions& engine,
               const RunOptions& run) {
  const internal::Model& m = *model.impl().model;
  Plan plan;
  plan.prepared = internal::prepare(model.impl().model, pipeline, run);
  const internal::Prepared& prepared = *plan.prepared;
  plan.agents = prepared.budget;
  plan.warnings = prepared.warnings;
  plan.n_ctx_train = m.info().n_ctx_train;
  plan.n_document_tokens = static_cast<int>(prepared.prefix.tokens->size());

  std::vector<int> tails;
  for (const Plan::Agent& agent : plan.agents) {
    if (agent.n_total_max > 0) tails.push_back(agent.n_total_max - plan.n_document_tokens);
  }
  std::sort(tails.begin(), tails.end(), std::greater<>());
  const bool shared = internal::handoff_named(engine.handoff) == internal::Handoff::kShared;
  const bool alone = engine.deterministic || !shared;  // one agent at a time
  const int limit = internal::parallel_limit(engine, m.info());
  plan.parallel = shared ? std::max(1, std::min(limit, static_cast<int>(tails.size()))) : 1;
  const auto n_together = static_cast<std::ptrdiff_t>(
      std::min(tails.size(), static_cast<std::size_t>(alone ? 1 : limit)));
  const std::int64_t n_concurrent = std::accumulate(
      tails.begin(), tails.begin() + n_together, static_cast<std::int64_t>(plan.n_document_tokens));
  plan.n_cells_concurrent = static_cast<int>(std::min<std::int64_t>(n_concurrent, 1 << 30));
  plan.n_cells_largest = plan.n_document_tokens + (tails.empty() ? 0 : tails.front());

  const std::uint64_t cell_bytes =
      m.kv_bytes_per_cell(internal::kv_type(engine.cache_type_k, "cache_type_k"),
                          internal::kv_type(engine.cache_type_v, "cache_type_v"));
  plan.ctx_size = engine.ctx_size;
  if (plan.ctx_size == 0) {
    // Half of what is free, so that the machine stays usable; more agents than that run in waves.
    const std::uint64_t memory = internal::memory_available_bytes() / 2;
    const std::uint64_t most = cell_bytes > 0 && memory > 0 ? memory / cell_bytes : 1 << 30;
    plan.ctx_size = static_cast<int>(
        std::min<std::uint64_t>(most, static_cast<std::uint64_t>(plan.n_cells_concurrent)));
    plan.ctx_size = std::max(plan.ctx_size, 1);
  }
  plan.kv_bytes = cell_bytes * static_cast<std::uint64_t>(plan.ctx_size);
  internal::check_budget(prepared, plan.ctx_size, cell_bytes);
  return plan;
}

}  // namespace swarmkv
