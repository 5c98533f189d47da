// The parts of a plan, each from what is prepared and from the parts before it.
#pragma once

#include "api/prepare.h"

namespace swarmkv::internal {

/// Agents by stage: those of stage 0 need nobody, others come after all they need. Within a stage
/// by priority, then file order; so agents are submitted.
struct Stages {
  std::vector<int> of;     ///< by agent
  std::vector<int> order;  ///< agents, stage after stage
};
Stages stages_of(const Pipeline& pipeline);

/// Names, needs, reads and token counts of documents and agents.
void plan_agents(Plan& plan);
/// Prefix tree: what is computed once, and who begins with it.
void plan_prefix(Plan& plan, const Stages& stages);
/// The pool's size and how much of it is needed. errors  kInvalidArgument
void plan_cells(Plan& plan, const EngineOptions& engine);
/// Who runs together, and the longest chain. Needs all of the above.
void plan_order(Plan& plan, const Stages& stages);
/// Prompt tokens asked, computed and reused, and how sure that is.
void plan_sums(Plan& plan, const EngineOptions& engine);

/// Of an agent's total, what it adds to what it starts from: its documents, or the conversation it
/// continues.
int n_tail(const Plan& plan, std::size_t agent);

/// A common beginning from which on the scheduler shares what nobody declared.
int accidental_match();

}  // namespace swarmkv::internal
