// Text to ids and back.
#pragma once

#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model.h"
#include "llama.h"

namespace swarmkv::internal {

/// Usable from any thread.
class LlamaTokenizer {
 public:
  /// `chat_template` tells which of the vocabulary's strings act as markers; may be empty.
  LlamaTokenizer(const llama_vocab* vocab, std::string_view chat_template);

  [[nodiscard]] Tokens tokenize(std::string_view text, SpecialTokens special) const;
  [[nodiscard]] std::string piece(Token token) const;
  [[nodiscard]] int n_vocab() const { return n_vocab_; }

 private:
  void append(std::string_view text, bool parse_special, Tokens& out) const;
  void append_plain(std::string_view text, Tokens& out) const;
  [[nodiscard]] bool can_say(std::string_view character) const;
  /// The token that stands for this one byte, -1 if there is none.
  [[nodiscard]] Token byte_token(char byte) const;

  const llama_vocab* vocab_;
  int n_vocab_;
  bool byte_level_;  // text is made of the vocabulary's bytes, and of nothing else
  std::vector<std::string> markers_;
  mutable std::once_flag bytes_once_;
  mutable std::array<Token, 256> bytes_{};
};

}  // namespace swarmkv::internal
