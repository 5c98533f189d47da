#include <algorithm>
#include <functional>
#include <numeric>

#include "api/model_impl.h"
#include "api/options.h"
#include "api/plan_parts.h"
#include "base/host_memory.h"
#include "handoff/handoff.h"

namespace swarmkv {
namespace internal {
namespace {

// What agents add to their prefixes: some of it leaves the cache when its agent has finished, the
// rest stays for a continuation.
struct Tails {
  std::vector<int> passing;  // descending
  std::int64_t n_kept = 0;
};

Tails tails_of(const Plan& plan) {
  Tails tails;
  for (std::size_t i = 0; i < plan.agents.size(); ++i) {
    if (plan.agents[i].is_function) continue;
    if (plan.prepared->agents[i].is_continued) {
      tails.n_kept += n_tail(plan, i);
    } else {
      tails.passing.push_back(n_tail(plan, i));
    }
  }
  std::sort(tails.passing.begin(), tails.passing.end(), std::greater<>());
  return tails;
}

// Ids that stay taken while agents come and go. Where the model can be forked anywhere, what ends
// lowest serves all that lies above it.
int n_holders(const Plan& plan, ForkKind kind) {
  const std::size_t n_agents = plan.agents.size();
  std::vector<bool> is_inner(plan.prefix.size(), false), goes_on(n_agents, false);
  for (const Plan::PrefixNode& node : plan.prefix) {
    if (node.parent >= 0) is_inner[static_cast<std::size_t>(node.parent)] = true;
  }
  for (std::size_t i = 0; i < n_agents; ++i) {
    const int parent = plan.agents[i].continues;
    const bool is_kept = plan.prepared->agents[i].is_continued;
    if (parent >= 0 && is_kept) goes_on[static_cast<std::size_t>(parent)] = true;
  }
  const bool each = kind == ForkKind::kRecurrent;
  int n = 0;
  for (const bool inner : is_inner) n += each || !inner;
  for (std::size_t i = 0; i < n_agents; ++i) {
    n += plan.prepared->agents[i].is_continued && (each || !goes_on[i]);
  }
  return n;
}

}  // namespace

int n_tail(const Plan& plan, std::size_t i) {
  const Plan::Agent& agent = plan.agents[i];
  if (agent.continues >= 0) {
    return agent.n_total_max - plan.agents[static_cast<std::size_t>(agent.continues)].n_total_max;
  }
  const std::shared_ptr<const Tokens>& prefix = plan.prepared->agents[i].prefix;
  return agent.n_total_max - (prefix == nullptr ? 0 : static_cast<int>(prefix->size()));
}

void plan_cells(Plan& plan, const EngineOptions& engine) {
  const Model& model = *plan.prepared->model;
  const Tails tails = tails_of(plan);
  const bool shared = handoff_named(engine.handoff) == Handoff::kShared;
  const int limit = parallel_limit(engine, model.info());
  const auto n_agents = std::count_if(plan.agents.begin(), plan.agents.end(),
                                      [](const Plan::Agent& agent) { return !agent.is_function; });
  plan.parallel = shared ? std::max(1, std::min(limit, static_cast<int>(n_agents))) : 1;
  plan.n_together = runs_together(engine, model) ? plan.parallel : 1;
  plan.n_seqs = n_seq_max_for(plan.parallel);
  plan.n_seqs_concurrent = plan.n_together + n_holders(plan, model.info().fork_kind);
  const auto n_together = static_cast<std::ptrdiff_t>(
      std::min(tails.passing.size(), static_cast<std::size_t>(plan.n_together)));
  const std::int64_t n_concurrent =
      std::accumulate(tails.passing.begin(), tails.passing.begin() + n_together,
                      plan.n_document_tokens + tails.n_kept);
  plan.n_cells_concurrent = static_cast<int>(std::min<std::int64_t>(n_concurrent, 1 << 30));
  for (const Plan::Agent& agent : plan.agents) {
    plan.n_cells_largest = std::max(plan.n_cells_largest, agent.n_total_max);
  }

  plan.cache_type_k = engine.cache_type_k;
  plan.cache_type_v = engine.cache_type_v;
  plan.kv_bytes_per_cell = model.kv_bytes_per_cell(kv_type(engine.cache_type_k, "cache_type_k"),
                                                   kv_type(engine.cache_type_v, "cache_type_v"));
  plan.ctx_size = engine.ctx_size;
  plan.ctx_size_given = engine.ctx_size != 0;
  if (!plan.ctx_size_given) {
    // Half of what is free, so that the machine stays usable; more agents than that run in waves.
    const auto memory = available_host_memory();
    const std::uint64_t most =
        plan.kv_bytes_per_cell > 0 && memory ? *memory / 2 / plan.kv_bytes_per_cell : 1 << 30;
    plan.ctx_size = static_cast<int>(
        std::min<std::uint64_t>(most, static_cast<std::uint64_t>(plan.n_cells_concurrent)));
    plan.ctx_size = std::max(plan.ctx_size, 1);
  }
  plan.kv_bytes = plan.kv_bytes_per_cell * static_cast<std::uint64_t>(plan.ctx_size);
  plan.misfit = misfit_of(*plan.prepared, plan.ctx_size, plan.kv_bytes_per_cell);
}

}  // namespace internal

Plan draft_plan(const Model& model, const Pipeline& pipeline, const EngineOptions& engine,
                const RunOptions& run) {
  Plan plan;
  plan.prepared = internal::prepare(model.impl().model, pipeline, run);
  const internal::ModelInfo& info = model.impl().model->info();
  plan.name = plan.prepared->pipeline.name;
  plan.model = model.impl().options.engine == "fake" ? "fake" : info.path;
  plan.n_ctx_train = info.n_ctx_train;
  plan.warnings = plan.prepared->warnings;
  const internal::Stages stages = internal::stages_of(plan.prepared->pipeline);
  internal::plan_agents(plan);
  internal::plan_prefix(plan, stages);
  internal::plan_cells(plan, engine);
  internal::plan_order(plan, stages);
  internal::plan_sums(plan, engine);
  return plan;
}

Plan make_plan(const Model& model, const Pipeline& pipeline, const EngineOptions& engine,
               const RunOptions& run) {
  Plan plan = draft_plan(model, pipeline, engine, run);
  if (!plan.misfit.empty()) throw Error(ErrorCode::kDoesNotFit, plan.misfit);
  return plan;
}

}  // namespace swarmkv
