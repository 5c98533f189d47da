// What a model thinks aloud before it answers, between <think> and </think>.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swarmkv::internal {

struct SplitAnswer {
  std::string answer;                    ///< without the reasoning and the blank lines behind it
  std::optional<std::string> reasoning;  ///< unset = there was none
};

/// The reasoning is what stands before the first </think>: some templates have opened it already,
/// so the text itself need not begin with <think>. An answer that was cut while it still thought is
/// all reasoning. Marks further down are ordinary text.
[[nodiscard]] SplitAnswer split_reasoning(std::string_view text);

}  // namespace swarmkv::internal
