// Finds the place in the file of something inside a prompt or a system text.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

using KeyPositions = std::map<std::string, SourcePos>;

/// Key in AgentSpec::key_pos of the nth "{{" of the text under `key` (0-based).
std::string template_key(const std::string& key, std::size_t n);

/// Position of a key the file gives for this agent, else of the agent's name.
const SourcePos& key_position(const AgentSpec& agent, const std::string& key);

/// Maps offsets of "{{" in a text to the file. Keeps references to all it is given but `key`.
class TemplatePositions {
 public:
  TemplatePositions(std::string_view text, std::string key, const KeyPositions& positions,
                    const SourcePos& fallback);

  /// Falls back to the text's key, then to `fallback`.
  [[nodiscard]] const SourcePos& at(std::size_t offset) const;

 private:
  const std::string key_;
  const KeyPositions& positions_;
  const SourcePos& fallback_;
  std::vector<std::size_t>
      braces_;  // offsets of every "{{", empty if the file says nothing about them
};

}  // namespace swarmkv::internal
