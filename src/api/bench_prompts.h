// The token ids a benchmark runs on, made once: the same in every arm and trial.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/model.h"
#include "swarmkv/bench.h"

namespace swarmkv::internal {

class BenchPrompts {
 public:
  /// errors  kInvalidArgument (a document shorter than asked for), kUnreadable, kUnsupported
  BenchPrompts(const std::shared_ptr<const Model>& model, const BenchOptions& options);

  /// The document's first `n_tokens`, its start token included.
  [[nodiscard]] std::shared_ptr<const Tokens> document(int n_tokens) const;
  /// The own prompt of agent `i`.
  [[nodiscard]] const Tokens& suffix(int i) const { return suffixes_[static_cast<std::size_t>(i)]; }

  [[nodiscard]] const std::vector<int>& lengths() const { return lengths_; }  ///< of documents
  [[nodiscard]] const std::string& document_name() const { return name_; }
  [[nodiscard]] std::string document_digest() const;
  [[nodiscard]] std::string suffixes_digest() const;
  /// No two own prompts have so much in common that the scheduler would share that, too.
  [[nodiscard]] bool differ_early() const;

 private:
  void ask_questions(const std::shared_ptr<const Model>& model, const std::string& text,
                     const BenchOptions& options);
  void make_up_suffixes(const Model& model, const BenchOptions& options);

  std::string name_ = "synthetic";
  Tokens document_;
  std::vector<int> lengths_;
  std::vector<Tokens> suffixes_;
};

}  // namespace swarmkv::internal
