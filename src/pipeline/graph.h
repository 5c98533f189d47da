// The agents' needs as numbers, and the circles in them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "orchestrate/node_runner.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

/// Agent by name; of agents with the same name the first. Views into `pipeline`.
using AgentIndex = std::unordered_map<std::string_view, NodeId>;
AgentIndex index_agents(const Pipeline& pipeline);

/// For every agent the indices of its needs; names that are no agent are left out.
std::vector<std::vector<NodeId>> need_ids(const Pipeline& pipeline);

/// One circle for every group of nodes that reach each other, a shortest one through the group's
/// first node, and one for every node that needs itself. Each starts at its lowest id and follows
/// needs. Linear, iterative.
std::vector<std::vector<NodeId>> find_circles(const std::vector<std::vector<NodeId>>& needs);

}  // namespace swarmkv::internal
