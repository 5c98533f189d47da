#include "engine/llama/llama_tokenizer.h"

#include <algorithm>
#include <limits>

#include "swarmkv/error.h"
#include "text/utf8.h"

namespace swarmkv::internal {

LlamaTokenizer::LlamaTokenizer(const llama_vocab* vocab, std::string_view chat_template)
    : vocab_(vocab),
      n_vocab_(llama_vocab_n_tokens(vocab)),
      byte_level_(llama_vocab_type(vocab) == LLAMA_VOCAB_TYPE_BPE) {
  // With special parsing off the runtime leaves control tokens alone but still matches strings the
  // vocabulary calls user-defined. Most of those are ordinary text (runs of spaces, HTML tags); the
  // ones that the chat template writes are turn markers in disguise, and must not arise from text.
  for (Token token = 0; token < n_vocab_; ++token) {
    if ((llama_vocab_get_attr(vocab, token) & LLAMA_TOKEN_ATTR_USER_DEFINED) == 0) continue;
    const char* text = llama_vocab_get_text(vocab, token);
    const std::string_view marker = text == nullptr ? std::string_view() : text;
    if (marker.size() < 3 || (marker[0] != '<' && marker[0] != '[')) continue;
    if (chat_template.find(marker) != std::string_view::npos) markers_.emplace_back(marker);
  }
}

void LlamaTokenizer::append(std::string_view text, bool parse_special, Tokens& out) const {
  if (text.empty()) return;
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  if (text.size() > kMost) {
    throw Error(ErrorCode::kInvalidArgument,
                "[engine.tokenize] the text has " + std::to_string(text.size()) +
                    " bytes, at most " + std::to_string(kMost) + " can be tokenised at once");
  }
  const auto length = static_cast<std::int32_t>(text.size());
  const std::size_t start = out.size();
  out.resize(start + text.size() / 3 + 16);
  while (true) {
    const auto room = static_cast<std::int32_t>(std::min(out.size() - start, kMost));
    const std::int32_t n = llama_tokenize(vocab_, text.data(), length, out.data() + start, room,
                                          /*add_special=*/false, parse_special);
    if (n >= 0) {
      out.resize(start + static_cast<std::size_t>(n));
      return;
    }
    if (n == std::numeric_limits<std::int32_t>::min()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "[engine.tokenize] the text has more tokens than can be counted: " +
                      std::to_string(text.size()) + " bytes");
    }
    out.resize(start + static_cast<std::size_t>(-n));  // a negative answer is the size it needs
  }
}

// The runtime replaces what is not UTF-8 by U+FFFD; vocabularies with byte tokens can say it as it
// is, so that a document's bytes arrive. What a byte-level vocabulary has no byte for (SmolLM2
// lacks 35 of the 256) the runtime would leave out without a word: there we write U+FFFD ourselves.
void LlamaTokenizer::append_plain(std::string_view text, Tokens& out) const {
  std::size_t at = 0, start = 0;
  const auto flush = [&] { append(text.substr(start, at - start), false, out); };
  while (at < text.size()) {
    const Utf8Step step = utf8_step(text, at);
    const bool valid = step.kind == Utf8Step::Kind::kValid;
    if (valid && can_say(text.substr(at, step.length))) {
      at += step.length;
      continue;
    }
    flush();
    const Token byte = valid ? -1 : byte_token(text[at]);
    if (byte >= 0) {
      out.push_back(byte);
    } else {
      append(kReplacementCharacter, false, out);
    }
    at += valid ? step.length : 1;
    start = at;
  }
  flush();
}

bool LlamaTokenizer::can_say(std::string_view character) const {
  if (!byte_level_ || std::all_of(character.begin(), character.end(),
                                  [this](char byte) { return byte_token(byte) >= 0; })) {
    return true;
  }
  Tokens tokens;  // it may still be a token of its own
  append(character, false, tokens);
  std::string text;
  for (const Token token : tokens) text += piece(token);
  return text == character;
}

Tokens LlamaTokenizer::tokenize(std::string_view text, SpecialTokens special) const {
  Tokens out;
  try {
    if (special == SpecialTokens::kParse) {
      append(text, true, out);
      return out;
    }
    while (!text.empty()) {
      // Cut one character into the next marker: its halves are ordinary text.
      std::size_t cut = text.size();
      for (const std::string& marker : markers_) {
        const std::size_t found = text.substr(0, cut).find(marker);
        if (found != std::string_view::npos) cut = found + 1;
      }
      append_plain(text.substr(0, cut), out);
      text.remove_prefix(cut);
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kUnsupported,
                std::string("[engine.tokenize] the runtime's tokeniser failed: ") + error.what());
  }
  return out;
}

std::string LlamaTokenizer::piece(Token token) const {
  if (token < 0 || token >= n_vocab_) {
    throw Error(ErrorCode::kInvalidArgument, "[engine.piece] token " + std::to_string(token) +
                                                 " is not in [0, " + std::to_string(n_vocab_) +
                                                 ")");
  }
  std::string text(32, '\0');
  while (true) {
    const std::int32_t n = llama_token_to_piece(
        vocab_, token, text.data(), static_cast<std::int32_t>(text.size()), 0, /*special=*/false);
    text.resize(static_cast<std::size_t>(n >= 0 ? n : -n));
    if (n >= 0) return text;
  }
}

Token LlamaTokenizer::byte_token(char byte) const {
  std::call_once(bytes_once_, [this] {
    bytes_.fill(-1);
    for (Token token = 0; token < n_vocab_; ++token) {
      const std::string text = piece(token);
      if (text.size() != 1) continue;
      Token& known = bytes_[static_cast<unsigned char>(text[0])];
      if (known < 0) known = token;
    }
  });
  return bytes_[static_cast<unsigned char>(byte)];
}

}  // namespace swarmkv::internal
