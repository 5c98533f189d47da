// What a plan says about each document and agent.
#include <algorithm>

#include "api/plan_parts.h"
#include "pipeline/graph.h"

namespace swarmkv::internal {
namespace {

// Tokens of one document as it stands in some list; a document that nobody reads is counted by
// itself.
int n_tokens_of(const Prepared& prepared, std::size_t document) {
  for (const ReadList& list : prepared.read_lists) {
    for (std::size_t i = 0; i < list.documents.size(); ++i) {
      if (list.documents[i] != document) continue;
      return list.prefix.document_ends[i] - list.prefix.document_begins[i];
    }
  }
  const std::string& text = prepared.documents[document].text;
  return static_cast<int>(prepared.model->tokenize(text, SpecialTokens::kPlainText).size());
}

// What a continuation finds in the cache: all but the last token its parent was given, which nobody
// fed. A parent that was asked for no token has been fed whole.
int n_kept_of(const Plan::Agent& parent) {
  return parent.n_total_max - (parent.max_tokens > 0 ? 1 : 0);
}

void add_tokens(Plan& plan, std::size_t i) {
  const PreparedAgent& prepared = plan.prepared->agents[i];
  Plan::Agent& agent = plan.agents[i];
  int n_before = static_cast<int>(prepared.prefix->size());
  agent.n_cached_max = n_before;
  if (agent.continues >= 0) {
    const Plan::Agent& parent = plan.agents[static_cast<std::size_t>(agent.continues)];
    n_before = parent.n_total_max;
    agent.n_cached_max = n_kept_of(parent);
  }
  agent.n_own_max = agent.n_prompt_max - agent.n_cached_max;
  agent.inserts = agent.n_prompt_max > n_before + static_cast<int>(prepared.own.size());
  // One token of a prompt is always the agent's own: cells have no logits.
  if (agent.n_own_max == 0 && agent.n_prompt_max > 0) {
    --agent.n_cached_max;
    ++agent.n_own_max;
  }
}

}  // namespace

Stages stages_of(const Pipeline& pipeline) {
  const std::vector<std::vector<NodeId>> needs = need_ids(pipeline);
  std::vector<std::vector<NodeId>> users(needs.size());
  std::vector<std::size_t> n_open(needs.size());
  std::vector<NodeId> ready;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    for (const NodeId need : needs[i]) users[static_cast<std::size_t>(need)].push_back(NodeId(i));
    n_open[i] = needs[i].size();
    if (needs[i].empty()) ready.push_back(static_cast<NodeId>(i));
  }
  Stages stages{std::vector<int>(needs.size(), 0), {}};
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const auto node = static_cast<std::size_t>(ready[next]);
    for (const NodeId user : users[node]) {
      const auto u = static_cast<std::size_t>(user);
      stages.of[u] = std::max(stages.of[u], stages.of[node] + 1);
      if (--n_open[u] == 0) ready.push_back(user);
    }
  }
  for (std::size_t i = 0; i < needs.size(); ++i) stages.order.push_back(static_cast<int>(i));
  const auto rank = [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    return std::pair(stages.of[at], -std::int64_t{pipeline.agents[at].priority});
  };
  std::stable_sort(stages.order.begin(), stages.order.end(),
                   [&](int a, int b) { return rank(a) < rank(b); });
  return stages;
}

void plan_agents(Plan& plan) {
  const Prepared& prepared = *plan.prepared;
  for (std::size_t d = 0; d < prepared.documents.size(); ++d) {
    plan.documents.push_back({prepared.documents[d].name, n_tokens_of(prepared, d), 0});
  }
  plan.agents = prepared.budget;
  const std::vector<std::vector<NodeId>> needs = need_ids(prepared.pipeline);
  for (std::size_t i = 0; i < plan.agents.size(); ++i) {
    const AgentSpec& spec = prepared.pipeline.agents[i];
    Plan::Agent& agent = plan.agents[i];
    agent.is_function = spec.function != nullptr;
    agent.needs = needs[i];
    for (const NodeId need : needs[i]) {
      const std::string& name = prepared.pipeline.agents[static_cast<std::size_t>(need)].name;
      agent.optional.push_back(std::find(spec.optional_needs.begin(), spec.optional_needs.end(),
                                         name) != spec.optional_needs.end());
    }
    if (agent.is_function) continue;
    agent.max_tokens = spec.max_tokens;
    agent.continues = prepared.agents[i].continues;
    agent.ready_after = prepared.agents[i].ready_after;
    agent.readings = prepared.reads_of(i).readings;
    for (const std::size_t d : prepared.reads_of(i).documents) {
      agent.reads.push_back(prepared.documents[d].name);
      ++plan.documents[d].n_readers;
    }
    add_tokens(plan, i);
  }
}

}  // namespace swarmkv::internal
