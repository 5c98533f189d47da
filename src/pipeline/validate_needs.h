#pragma once

#include <string>
#include <unordered_set>

#include "pipeline/agent_names.h"

namespace swarmkv::internal {

/// Checks `needs`, `optional_needs` and `continues` of an agent and brings them into one list:
/// names once, what continues implies added. Answers the needs.
std::unordered_set<std::string> check_needs(AgentSpec& agent, AgentNames& names,
                                            DiagnosticList& diagnostics);

}  // namespace swarmkv::internal
