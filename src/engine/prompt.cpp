#include "engine/prompt.h"

#include <utility>

#include "text/trim.h"

namespace swarmkv::internal {
namespace {

constexpr std::string_view kBlankLine = "\n\n";

void append(Tokens& tokens, const Tokens& more) {
  tokens.insert(tokens.end(), more.begin(), more.end());
}

// The start token belongs at position 0 exactly once, whether or not the template writes it.
void begin_with_start(Tokens& tokens, std::optional<Token> start) {
  if (!start) return;
  auto first = tokens.begin();
  while (first != tokens.end() && *first == *start) ++first;
  tokens.erase(tokens.begin(), first);
  tokens.insert(tokens.begin(), *start);
}

std::string joined(std::string_view agent_system, std::string_view prompt) {
  std::string own(agent_system);
  if (!own.empty() && !prompt.empty()) own += kBlankLine;
  own += prompt;
  return own;
}

}  // namespace

PromptBuilder::PromptBuilder(std::shared_ptr<const Model> model, const std::string& system,
                             const PromptFormat& format)
    : model_(std::move(model)),
      has_system_(!system.empty()),
      has_scaffold_(format.use_chat_template) {
  ChatScaffold scaffold;
  if (has_scaffold_) scaffold = cut_chat_template(*model_, has_system_, format.date);
  if (!scaffold.before.empty()) {
    head_ = model_->tokenize(scaffold.before, SpecialTokens::kParse);
  }
  begin_with_start(head_, model_->start_token());
  add(head_, system);
  if (!scaffold.between.empty()) {
    append(head_, model_->tokenize(scaffold.between, SpecialTokens::kParse));
  }
  opens_reasoning_ = trim(scaffold.after).ends_with("<think>");
  if (!scaffold.after.empty()) after_ = model_->tokenize(scaffold.after, SpecialTokens::kParse);
  if (!format.has_turns) return;
  if (!has_scaffold_) {
    add(turn_before_, kBlankLine);
    return;
  }
  const TurnScaffold turn = cut_next_turn(*model_, has_system_, format.date);
  turn_before_ = model_->tokenize(turn.before, SpecialTokens::kParse);
  turn_after_ = model_->tokenize(turn.after, SpecialTokens::kParse);
}

void PromptBuilder::add(Tokens& tokens, std::string_view text) const {
  // Some tokenisers answer an empty text with a space.
  if (!text.empty()) append(tokens, model_->tokenize(text, SpecialTokens::kPlainText));
}

PromptBuilder::Prefix PromptBuilder::prefix(std::span<const DocumentText> documents) const {
  Tokens tokens = head_;
  Prefix prefix;
  bool needs_blank_line = has_system_ && !has_scaffold_;
  for (const DocumentText& document : documents) {
    if (needs_blank_line) add(tokens, kBlankLine);
    prefix.document_begins.push_back(static_cast<int>(tokens.size()));
    add(tokens, document.text);
    prefix.document_ends.push_back(static_cast<int>(tokens.size()));
    needs_blank_line = true;
  }
  // Without scaffold, system text and start token nothing is shared, and there is no point to fork
  // at.
  if (documents.empty() && !tokens.empty()) {
    prefix.document_ends.push_back(static_cast<int>(tokens.size()));
  }
  prefix.tokens = std::make_shared<const Tokens>(std::move(tokens));
  return prefix;
}

Tokens PromptBuilder::next_turn(std::string_view agent_system, std::string_view prompt) const {
  Tokens tokens = turn_before_;
  add(tokens, joined(agent_system, prompt));
  append(tokens, turn_after_);
  return tokens;
}

// Pieces are bytes of the text in order, except that some tokenisers put a space in front of it.
int PromptBuilder::n_tokens_before(std::span<const Token> document, std::string_view text,
                                   std::size_t offset) const {
  std::size_t n_bytes = 0;
  for (const Token token : document) n_bytes += model_->piece(token).size();
  std::size_t end = offset + (n_bytes > text.size() ? n_bytes - text.size() : 0);
  int n = 0;
  for (const Token token : document) {
    const std::size_t size = model_->piece(token).size();
    if (size > end) break;
    end -= size;
    ++n;
  }
  return n;
}

Tokens PromptBuilder::suffix(std::string_view agent_system, std::string_view prompt,
                             bool has_documents) const {
  const std::string own = joined(agent_system, prompt);
  Tokens tokens;
  const bool follows_text = has_documents || (has_system_ && !has_scaffold_);
  if (follows_text && !own.empty()) add(tokens, kBlankLine);
  add(tokens, own);
  append(tokens, after_);
  return tokens;
}

}  // namespace swarmkv::internal
