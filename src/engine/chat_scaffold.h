// A chat template reduced to the text it writes around ours.
#pragma once

#include <string>

#include "engine/model.h"

namespace swarmkv::internal {

struct PromptFormat {
  bool use_chat_template = true;
  std::string date =
      "2026-01-01";        ///< the template's clock; fixed, so that prompts do not change overnight
  bool has_turns = false;  ///< some conversation has more than one turn
};

/// Template text only: `before` SYSTEM `between` USER `after`; without a system text `between` is
/// empty.
struct ChatScaffold {
  std::string before, between, after;
};

/// Renders one conversation with sentinels for its texts and cuts it at them.
///
/// errors  kUnsupported  the model has no template, the template refuses, or a sentinel is missing,
/// doubled
///                       or out of order; the message names --no-chat-template as the way out
[[nodiscard]] ChatScaffold cut_chat_template(const Model& model, bool has_system,
                                             const std::string& date);

/// Template text around the second question of a conversation, behind the first answer:
/// ANSWER `before` USER `after`. `before` ends the answer's turn.
struct TurnScaffold {
  std::string before, after;
};

/// errors  as cut_chat_template
[[nodiscard]] TurnScaffold cut_next_turn(const Model& model, bool has_system,
                                         const std::string& date);

}  // namespace swarmkv::internal
