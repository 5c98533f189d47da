// What a plan can say about the counts of a run's report, and how sure it is.
#include <algorithm>
#include <tuple>

#include "api/options.h"
#include "api/plan_parts.h"
#include "engine/model.h"
#include "handoff/handoff.h"

namespace swarmkv::internal {
namespace {

// Two agents of one prefix whose own texts begin alike: if they run at the same time, that is
// computed once, too. Of sorted texts neighbours have most in common.
bool have_like_beginnings(const Plan& plan) {
  std::vector<std::pair<int, const Tokens*>> texts;
  for (std::size_t i = 0; i < plan.agents.size(); ++i) {
    const Plan::Agent& agent = plan.agents[i];
    if (agent.is_function) continue;
    const int base = agent.continues < 0 ? agent.prefix : -2 - agent.continues;
    texts.emplace_back(base, &plan.prepared->agents[i].own);
  }
  std::sort(texts.begin(), texts.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, *a.second) < std::tie(b.first, *b.second);
  });
  for (std::size_t i = 1; i < texts.size(); ++i) {
    if (texts[i].first != texts[i - 1].first) continue;
    const Tokens &a = *texts[i - 1].second, &b = *texts[i].second;
    const auto common = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
    if (common >= accidental_match()) return true;
  }
  return false;
}

bool have_several_prefixes(const Plan& plan) {
  int end = -1;
  for (const Plan::Agent& agent : plan.agents) {
    if (agent.prefix < 0) continue;
    if (end >= 0 && agent.prefix != end) return true;
    end = agent.prefix;
  }
  return false;
}

template <typename Holds>
bool any_agent(const Plan& plan, Holds holds) {
  return std::any_of(plan.agents.begin(), plan.agents.end(), holds);
}

void worsen(Plan& plan, Plan::Sums to, const char* reason) {
  plan.sums = std::max(plan.sums, to);
  plan.reasons.emplace_back(reason);
}

}  // namespace

void plan_sums(Plan& plan, const EngineOptions& engine) {
  for (const Plan::Agent& agent : plan.agents) {
    plan.n_prompt_tokens += agent.n_prompt_max;
    plan.n_prompt_computed += agent.n_own_max;
  }
  const Handoff handoff = handoff_named(engine.handoff);
  plan.n_prompt_computed += plan.n_document_tokens;
  if (handoff == Handoff::kRecompute) plan.n_prompt_computed = plan.n_prompt_tokens;
  plan.n_prompt_reused = plan.n_prompt_tokens - plan.n_prompt_computed;

  if (any_agent(plan, [](const Plan::Agent& a) { return a.inserts; }))
    worsen(plan, Plan::Sums::kUpperBound, "answers are inserted");
  const bool has_turns = any_agent(plan, [](const Plan::Agent& a) { return a.continues >= 0; });
  if (has_turns) worsen(plan, Plan::Sums::kUpperBound, "conversations go on");
  const bool together = runs_together(engine, *plan.prepared->model);
  const bool shares_more = together && have_like_beginnings(plan);
  if (shares_more) {
    worsen(plan, Plan::Sums::kUpperBound, "prompts that begin alike share more");
  }
  if (handoff == Handoff::kRecompute) return;
  if (!together && has_turns) {
    worsen(plan, Plan::Sums::kEstimate, "agents run one by one, and conversations are read again");
  }
  if (!plan.misfit.empty() || plan.ctx_size < plan.n_cells_concurrent) {
    worsen(plan, Plan::Sums::kEstimate,
           "not everything fits at once, and what left the cache is computed again");
  }
  // What agents share beyond their prefixes takes ids, too.
  const int n_seqs = plan.n_seqs_concurrent + (shares_more ? plan.n_together : 0);
  if (together && (has_turns || have_several_prefixes(plan)) && n_seqs > plan.n_seqs) {
    worsen(plan, Plan::Sums::kEstimate,
           "prefixes and conversations are more than the sequence ids, and what left the cache is "
           "computed again");
  }
  if (!have_several_prefixes(plan)) return;
  if (!together) {
    worsen(plan, Plan::Sums::kEstimate, "agents run one by one, and prefixes replace each other");
  }
  if (plan.prepared->model->info().fork_kind != ForkKind::kFull) {
    worsen(plan, Plan::Sums::kEstimate, "this model cannot be forked everywhere");
  }
}

}  // namespace swarmkv::internal
