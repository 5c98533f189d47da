#include <algorithm>
#include <functional>
#include <numeric>

#include "api/model_impl.h"
#include "api/options.h"
#include "api/prepare.h"
#include "base/process_info.h"
#include "handoff/handoff.h"

namespace swarmkv {
namespace {

// Tokens of the tree that all lists of documents make: what one shares with an earlier one counts
// once.
int n_tree_tokens(const internal::Prepared& prepared) {
  int n = 0;
  for (std::size_t i = 0; i < prepared.read_lists.size(); ++i) {
    const Tokens& tokens = *prepared.read_lists[i].prefix.tokens;
    std::ptrdiff_t n_shared = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const Tokens& other = *prepared.read_lists[j].prefix.tokens;
      n_shared = std::max(
          n_shared, std::mismatch(tokens.begin(), tokens.end(), other.begin(), other.end()).first -
                        tokens.begin());
    }
    n += static_cast<int>(static_cast<std::ptrdiff_t>(tokens.size()) - n_shared);
  }
  return n;
}

// What each agent adds to what it starts from: its documents, or the conversation it continues.
struct Tails {
  std::vector<int> passing;  // leave the cache when their agent has finished
  std::int64_t n_kept = 0;   // stay for a continuation
};

Tails tails_of(const internal::Prepared& prepared) {
  Tails tails;
  for (std::size_t i = 0; i < prepared.agents.size(); ++i) {
    const internal::PreparedAgent& agent = prepared.agents[i];
    if (prepared.budget[i].n_total_max == 0) continue;
    const int n_before =
        agent.continues < 0
            ? static_cast<int>(agent.prefix->size())
            : prepared.budget[static_cast<std::size_t>(agent.continues)].n_total_max;
    const int n = prepared.budget[i].n_total_max - n_before;
    if (agent.is_continued) {
      tails.n_kept += n;
    } else {
      tails.passing.push_back(n);
    }
  }
  std::sort(tails.passing.begin(), tails.passing.end(), std::greater<>());
  return tails;
}

}  // namespace

Plan make_plan(const Model& model, const Pipeline& pipeline, const EngineOptions& engine,
               const RunOptions& run) {
  const internal::Model& m = *model.impl().model;
  Plan plan;
  plan.prepared = internal::prepare(model.impl().model, pipeline, run);
  const internal::Prepared& prepared = *plan.prepared;
  plan.agents = prepared.budget;
  plan.warnings = prepared.warnings;
  plan.n_ctx_train = m.info().n_ctx_train;
  plan.n_document_tokens = n_tree_tokens(prepared);

  const Tails tails = tails_of(prepared);
  const bool shared = internal::handoff_named(engine.handoff) == internal::Handoff::kShared;
  const bool alone = engine.deterministic || !shared;  // one agent at a time
  const int limit = internal::parallel_limit(engine, m.info());
  const auto n_agents =
      std::count_if(plan.agents.begin(), plan.agents.end(),
                    [](const Plan::Agent& agent) { return agent.n_total_max > 0; });
  plan.parallel = shared ? std::max(1, std::min(limit, static_cast<int>(n_agents))) : 1;
  const auto n_together = static_cast<std::ptrdiff_t>(
      std::min(tails.passing.size(), static_cast<std::size_t>(alone ? 1 : limit)));
  const std::int64_t n_concurrent =
      std::accumulate(tails.passing.begin(), tails.passing.begin() + n_together,
                      plan.n_document_tokens + tails.n_kept);
  plan.n_cells_concurrent = static_cast<int>(std::min<std::int64_t>(n_concurrent, 1 << 30));
  for (const Plan::Agent& agent : plan.agents) {
    plan.n_cells_largest = std::max(plan.n_cells_largest, agent.n_total_max);
  }

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
