#include "pipeline/prompt_positions.h"

#include <algorithm>

namespace swarmkv::internal {

std::string template_key(std::size_t n) { return "prompt.{{" + std::to_string(n); }

const SourcePos& key_position(const AgentSpec& agent, const std::string& key) {
  const auto found = agent.key_pos.find(key);
  return found == agent.key_pos.end() ? agent.pos : found->second;
}

PromptPositions::PromptPositions(const AgentSpec& agent) : agent_(agent) {
  if (agent.key_pos.count(template_key(0)) == 0) return;
  for (std::size_t at = agent.prompt.find("{{"); at != std::string::npos;
       at = agent.prompt.find("{{", at + 2)) {
    braces_.push_back(at);
  }
}

const SourcePos& PromptPositions::at(std::size_t offset) const {
  const auto found = std::lower_bound(braces_.begin(), braces_.end(), offset);
  if (found != braces_.end() && *found == offset) {
    const auto key =
        agent_.key_pos.find(template_key(static_cast<std::size_t>(found - braces_.begin())));
    if (key != agent_.key_pos.end()) return key->second;
  }
  return key_position(agent_, "prompt");
}

}  // namespace swarmkv::internal
