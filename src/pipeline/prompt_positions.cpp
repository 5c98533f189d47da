#include "pipeline/prompt_positions.h"

#include <algorithm>
#include <utility>

namespace swarmkv::internal {

std::string template_key(const std::string& key, std::size_t n) {
  return key + ".{{" + std::to_string(n);
}

const SourcePos& key_position(const AgentSpec& agent, const std::string& key) {
  const auto found = agent.key_pos.find(key);
  return found == agent.key_pos.end() ? agent.pos : found->second;
}

TemplatePositions::TemplatePositions(std::string_view text, std::string key,
                                     const KeyPositions& positions, const SourcePos& fallback)
    : key_(std::move(key)), positions_(positions), fallback_(fallback) {
  if (positions.count(template_key(key_, 0)) == 0) return;
  for (std::size_t at = text.find("{{"); at != std::string_view::npos;
       at = text.find("{{", at + 2)) {
    braces_.push_back(at);
  }
}

const SourcePos& TemplatePositions::at(std::size_t offset) const {
  const auto found = std::lower_bound(braces_.begin(), braces_.end(), offset);
  if (found != braces_.end() && *found == offset) {
    const auto n = static_cast<std::size_t>(found - braces_.begin());
    const auto place = positions_.find(template_key(key_, n));
    if (place != positions_.end()) return place->second;
  }
  const auto whole = positions_.find(key_);
  return whole == positions_.end() ? fallback_ : whole->second;
}

}  // namespace swarmkv::internal
