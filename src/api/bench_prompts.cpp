#include "api/bench_prompts.h"

#include <algorithm>
#include <random>

#include "api/documents.h"
#include "base/digest.h"
#include "engine/prompt.h"
#include "schedule/scheduler.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

// The sentence of the original experiment.
constexpr std::string_view kSentence = "The quick brown fox jumps over the lazy dog. ";
const auto kSharedByAccident = static_cast<std::size_t>(SchedulerOptions{}.min_accidental_match);

Tokens with_start(const Model& model, const Tokens& text) {
  Tokens tokens;
  if (const auto start = model.start_token()) tokens.push_back(*start);
  tokens.insert(tokens.end(), text.begin(), text.end());
  return tokens;
}

std::string load_text(const std::string& path) {
  std::vector<Diagnostic> warnings;
  DocumentSpec spec;
  spec.name = "document";
  spec.path = path;
  return load_document(spec, ".", false, warnings).text;
}

// At least `n_tokens` of it.
std::string sentences(const Model& model, int n_tokens) {
  constexpr int kMost = 1 << 24;
  if (n_tokens > kMost) {
    throw Error(ErrorCode::kInvalidArgument, "[bench] document_tokens is " +
                                                 std::to_string(n_tokens) + ", must be at most " +
                                                 std::to_string(kMost));
  }
  std::string text(kSentence);
  while (static_cast<int>(model.tokenize(text, SpecialTokens::kPlainText).size()) < n_tokens) {
    text += text;
  }
  return text;
}

std::string text_of(const Model& model, const BenchOptions& options) {
  if (!options.document.empty()) return load_text(options.document);
  const auto& lengths = options.document_tokens;
  if (lengths.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "[bench] neither a document nor document_tokens is given");
  }
  return sentences(model, *std::max_element(lengths.begin(), lengths.end()));
}

}  // namespace

BenchPrompts::BenchPrompts(const std::shared_ptr<const Model>& model, const BenchOptions& options) {
  if (!options.document.empty()) name_ = options.document;
  const std::string text = text_of(*model, options);
  if (options.questions.empty()) {
    document_ = with_start(*model, model->tokenize(text, SpecialTokens::kPlainText));
    make_up_suffixes(*model, options);
  } else {
    ask_questions(model, text, options);
  }
  lengths_ = options.document_tokens;
  if (lengths_.empty()) lengths_.push_back(static_cast<int>(document_.size()));
  for (const int n : lengths_) {
    if (n >= 1 && n <= static_cast<int>(document_.size())) continue;
    throw Error(ErrorCode::kInvalidArgument, "[bench] document_tokens is " + std::to_string(n) +
                                                 ", must be 1 to the document's " +
                                                 std::to_string(document_.size()));
  }
}

// As `swarmkv ask` would: the chat template around document and question.
void BenchPrompts::ask_questions(const std::shared_ptr<const Model>& model, const std::string& text,
                                 const BenchOptions& options) {
  const PromptBuilder prompts(
      model, "", PromptFormat{options.prompt.use_chat_template, options.prompt.template_date});
  const std::vector<DocumentText> documents{{"document", text}};
  document_ = *prompts.prefix(documents).tokens;
  const int most = *std::max_element(options.agents.begin(), options.agents.end());
  const auto n_questions = options.questions.size();
  for (int i = 0; i < most; ++i) {
    const auto k = static_cast<std::size_t>(i);
    std::string question = options.questions[k % n_questions];
    // Asked again, it begins otherwise: equal prompts would be shared whole.
    if (k >= n_questions) question.insert(0, std::to_string(k / n_questions + 1) + ". ");
    suffixes_.push_back(prompts.suffix("", question, true));
  }
}

// Ordinary tokens, drawn with the seed; no two prompts begin with the same one.
void BenchPrompts::make_up_suffixes(const Model& model, const BenchOptions& options) {
  std::vector<Token> words;
  for (Token token = 0; token < model.info().n_vocab; ++token) {
    if (!model.is_control(token) && !model.is_end_of_generation(token)) words.push_back(token);
  }
  const int most = *std::max_element(options.agents.begin(), options.agents.end());
  if (static_cast<int>(words.size()) < most) {
    throw Error(ErrorCode::kInvalidArgument, "[bench] " + std::to_string(most) +
                                                 " agents need as many different first tokens, " +
                                                 "the vocabulary has " +
                                                 std::to_string(words.size()));
  }
  std::mt19937 random(options.seed);  // the same numbers on every machine, unlike distributions
  for (std::size_t i = words.size() - 1; i > 0; --i) std::swap(words[i], words[random() % (i + 1)]);
  for (int i = 0; i < most; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const int n = options.suffix_tokens[k % options.suffix_tokens.size()];
    Tokens suffix{words[k]};
    while (static_cast<int>(suffix.size()) < n) suffix.push_back(words[random() % words.size()]);
    suffixes_.push_back(std::move(suffix));
  }
}

std::shared_ptr<const Tokens> BenchPrompts::document(int n_tokens) const {
  return std::make_shared<const Tokens>(document_.begin(), document_.begin() + n_tokens);
}

std::string BenchPrompts::document_digest() const { return digest128(bytes_of(document_)); }

std::string BenchPrompts::suffixes_digest() const {
  Tokens all;
  for (const Tokens& suffix : suffixes_) {
    all.push_back(static_cast<Token>(suffix.size()));
    all.insert(all.end(), suffix.begin(), suffix.end());
  }
  return digest128(bytes_of(all));
}

bool BenchPrompts::differ_early() const {
  std::vector<Tokens> sorted = suffixes_;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Tokens& a = sorted[i - 1];
    const Tokens& b = sorted[i];
    const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
    if (static_cast<std::size_t>(end - a.begin()) >= kSharedByAccident) return false;
  }
  return true;
}

}  // namespace swarmkv::internal
