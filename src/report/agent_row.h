// One line about an agent for people: the same columns on a terminal and in Markdown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "swarmkv/report.h"

namespace swarmkv::internal {

/// The first two columns are text, the others are numbers.
[[nodiscard]] std::vector<std::string> agent_columns();
/// What is not known is "-".
[[nodiscard]] std::vector<std::string> agent_row(const AgentReport& agent);
/// The finish reason, or what happened instead; "!" marks an answer cut at its max_tokens.
[[nodiscard]] std::string agent_end(const AgentReport& agent);
/// Prompt tokens that did not come from the cache.
[[nodiscard]] std::optional<int> new_prompt_tokens(const AgentReport& agent);

}  // namespace swarmkv::internal
