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
/// Seam rule: scaffold (template text) is tokenised with special parsing; system, each separator,
/// each document and each agent's text are tokenised apart from each other as plain text. So ids
/// never merge across a seam and are the same in every mode, and marker text inside of them stays
/// ordinary text. Without a chat template the scaffold is empty and blank lines join whatever is
/// there.
class PromptBuilder {
 public:
  /// Renders the template here.
  /// errors  kUnsupported  no template, or one that does not show the texts once and in order
  PromptBuilder(std::shared_ptr<const Model> model, std::string system, PromptFormat format);

  struct Prefix {
    std::shared_ptr<const Tokens> tokens;
    /// Fork points: where each document ends, the last one == tokens->size(); without documents
    /// that is the only one. Empty if there is no token at all.
    std::vector<int> document_ends;
  };
  [[nodiscard]] Prefix prefix(std::span<const DocumentText> documents) const;

  /// `has_documents`: whether the prefix this goes behind holds at least one document.
  [[nodiscard]] Tokens suffix(std::string_view agent_system, std::string_view prompt,
                              bool has_documents) const;

 private:
  void add(Tokens& tokens, std::string_view text) const;

  std::shared_ptr<const Model> model_;
  bool has_system_;
  bool has_scaffold_;
  Tokens head_;   ///< start token, scaffold and system: everything before the first document
  Tokens after_;  ///< the scaffold behind the agent's text
};

}  // namespace swarmkv::internal
