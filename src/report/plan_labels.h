// How the parts of a plan are called, wherever they are shown.
#pragma once

#include <string>
#include <vector>

#include "swarmkv/plan.h"

namespace swarmkv::internal {

/// "system and template + contract, first 4,000 tokens".
std::string prefix_label(const Plan& plan, const Plan::PrefixNode& node);

/// What an agent waits for: "memo's conversation", "a, b", "first 4,000 tokens", "documents".
std::string starts_after(const Plan& plan, const Plan::Agent& agent);

/// "a, b, c".
std::string joined(const std::vector<std::string>& names);
std::string agent_names(const Plan& plan, const std::vector<int>& agents);

/// "1 agent", "3 agents".
std::string counted(std::int64_t n, const char* one);

/// The agent's numbers depend on answers.
inline bool is_upper_bound(const Plan::Agent& agent) {
  return agent.inserts || agent.continues >= 0;
}

}  // namespace swarmkv::internal
