// What is known of a run before it begins: its pipeline, then its plan.
#include <algorithm>
#include <utility>

#include "cli/progress_state.h"

namespace swarmkv::cli {

void apply_plan(ProgressState& state, const Plan& plan) {
  for (const Plan::Agent& planned : plan.agents) {
    const auto found = state.agent_index.find(planned.name);
    if (found == state.agent_index.end()) continue;
    AgentProgress& agent = state.agents[found->second];
    agent.ready_after = planned.ready_after;
    for (std::size_t i = 0; i < std::min(planned.reads.size(), planned.readings.size()); ++i) {
      agent.reads.emplace_back(planned.reads[i], planned.readings[i]);
    }
    agent.n_own_max = planned.n_own_max;
    agent.inserts = planned.inserts;
    if (planned.continues >= 0) {
      agent.continues = plan.agents[static_cast<std::size_t>(planned.continues)].name;
    }
    if (planned.prefix >= 0) {
      agent.n_prefix = plan.prefix[static_cast<std::size_t>(planned.prefix)].end;
    }
  }
}

ProgressState initial_state(const Pipeline& pipeline, const std::string& title,
                            const std::string& model) {
  ProgressState state;
  state.title = title;
  state.model = model;
  for (const DocumentSpec& document : pipeline.documents) {
    state.document_index.emplace(std::pair(document.name, 0), state.documents.size());
    DocumentProgress& shown = state.documents.emplace_back(DocumentProgress{.name = document.name});
    shown.keeps = document.snapshot == "auto";
  }
  for (const AgentSpec& spec : pipeline.agents) {
    state.agent_index.emplace(spec.name, state.agents.size());
    AgentProgress& agent = state.agents.emplace_back();
    agent.name = spec.name;
    agent.needs = spec.needs;
    agent.max_tokens = spec.function ? 0 : spec.max_tokens;
  }
  return state;
}

}  // namespace swarmkv::cli
