// Agents for tests of what validate() finds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "swarmkv/pipeline.h"

namespace swarmkv {

/// One whose prompt uses the answers of its needs.
inline AgentSpec agent(std::string name, std::vector<std::string> needs = {}) {
  AgentSpec spec;
  spec.name = std::move(name);
  spec.prompt = "p";
  for (const std::string& need : needs) spec.prompt += " {{ " + need + " }}";
  spec.needs = std::move(needs);
  return spec;
}

}  // namespace swarmkv
