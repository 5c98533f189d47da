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

/// The reasoning is what stands before the first </think> of a text that begins with <think>, or
/// whose template has opened it already (`opened`). An answer that was cut while it still thought
/// is all reasoning. Marks elsewhere are ordinary text: an answer may be about them.
[[nodiscard]] SplitAnswer split_reasoning(std::string_view text, bool opened);

}  // namespace swarmkv::internal
