// From texts to token ids: the only place that knows how a prompt is put together.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/chat_scaffold.h"
#include "engine/model.h"

namespace swarmkv::internal {

struct DocumentText {
  std::string name;
  std::string_view text;
};

/// Turns texts into token ids, once per model and shared system text. Immutable, so thread-safe.
///
///   [start] before  system  between  doc1 "\n\n" doc2  |  "\n\n" agent system "\n\n" prompt  after
///           ~~~~~~          ~~~~~~~                    |                                     ~~~~~
///           prefix: shared by all agents               |  suffix: an agent's own       ~ =
///           scaffold
///
/// A conversation that goes on has behind the suffix and the answer's own ids
///
///   end of turn  "agent system \n\n prompt"  after      (the next turn)
///
/// Seam rule: scaffold (template text) is tokenised with special parsing; system, each separator,
/// each document and each agent's text are tokenised apart from each other as plain text. So ids
/// never merge across a seam and are the same in every mode, and marker text inside of them stays
/// ordinary text. Without a chat template the scaffold is empty and blank lines join whatever is
/// there.
class PromptBuilder {
 public:
  /// Renders the template here.
  /// errors  kUnsupported  no template, or one that does not show the texts once and in order
  PromptBuilder(std::shared_ptr<const Model> model, const std::string& system,
                const PromptFormat& format);

  struct Prefix {
    std::shared_ptr<const Tokens> tokens;
    std::vector<int> document_begins;  ///< where each document's first token stands
    /// Fork points: where each document ends, the last one == tokens->size(); without documents
    /// that is the only one. Empty if there is no token at all.
    std::vector<int> document_ends;
  };
  [[nodiscard]] Prefix prefix(std::span<const DocumentText> documents) const;

  /// `has_documents`: whether the prefix this goes behind holds at least one document.
  [[nodiscard]] Tokens suffix(std::string_view agent_system, std::string_view prompt,
                              bool has_documents) const;

  /// What goes behind an answer. Needs PromptFormat::has_turns.
  [[nodiscard]] Tokens next_turn(std::string_view agent_system, std::string_view prompt) const;

  /// Whether the template has begun the model's reasoning before it writes its first token.
  [[nodiscard]] bool opens_reasoning() const { return opens_reasoning_; }

  /// How many of the first tokens of a document, as it stands in a prefix, hold nothing of its text
  /// from byte `offset` on. cost: a walk over the tokens
  [[nodiscard]] int n_tokens_before(std::span<const Token> document, std::string_view text,
                                    std::size_t offset) const;

 private:
  void add(Tokens& tokens, std::string_view text) const;

  std::shared_ptr<const Model> model_;
  bool has_system_;
  bool has_scaffold_;
  bool opens_reasoning_ = false;
  Tokens head_;   ///< start token, scaffold and system: everything before the first document
  Tokens after_;  ///< the scaffold behind the agent's text
  Tokens turn_before_, turn_after_;  ///< the scaffold around a next turn
};

}  // namespace swarmkv::internal
