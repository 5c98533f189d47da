// Finds the place in the file of something inside a prompt.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

/// Key in AgentSpec::key_pos of the nth "{{" of the prompt (0-based).
std::string template_key(std::size_t n);

/// Position of a key the file gives for this agent, else of the agent's name.
const SourcePos& key_position(const AgentSpec& agent, const std::string& key);

/// Maps offsets of "{{" in an agent's prompt to the file. Keeps a reference to the agent.
class PromptPositions {
 public:
  explicit PromptPositions(const AgentSpec& agent);

  /// Falls back to the prompt's key, then to the agent's name.
  [[nodiscard]] const SourcePos& at(std::size_t offset) const;

 private:
  const AgentSpec& agent_;
  std::vector<std::size_t>
      braces_;  // offsets of every "{{", empty if the file says nothing about them
};

}  // namespace swarmkv::internal
