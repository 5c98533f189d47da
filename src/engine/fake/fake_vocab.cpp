#include "engine/fake/fake_vocab.h"

#include <fmt/format.h>

#include <array>

namespace swarmkv::internal {
namespace {

constexpr std::array<std::string_view, kFakeVocabSize - 256> kMarkers = {
    "<|bos|>", "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|fim|>", "<|tool|>"};

}  // namespace

std::string_view fake_marker(Token control) {
  return kMarkers.at(static_cast<std::size_t>(control - 256));
}

Tokens fake_tokenize(std::string_view text, SpecialTokens special) {
  Tokens tokens;
  tokens.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    std::size_t step = 1;
    Token token = static_cast<unsigned char>(text[i]);
    if (special == SpecialTokens::kParse && text[i] == '<') {
      for (std::size_t m = 0; m < kMarkers.size(); ++m) {
        if (text.substr(i, kMarkers[m].size()) != kMarkers[m]) continue;
        token = static_cast<Token>(256 + m);
        step = kMarkers[m].size();
        break;
      }
    }
    tokens.push_back(token);
    i += step;
  }
  return tokens;
}

std::string fake_text(std::span<const Token> tokens) {
  std::string text;
  text.reserve(tokens.size());
  for (const Token token : tokens) {
    if (fake_is_byte(token)) {
      text.push_back(static_cast<char>(token));
    } else {
      text.append(fake_marker(token));
    }
  }
  return text;
}

std::string fake_render_chat(std::span<const ChatMessage> messages) {
  std::string text;
  for (const ChatMessage& message : messages) {
    if (message.role != "system" && message.role != "user" && message.role != "assistant") {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("[engine.render_chat] the template knows system, user and assistant, "
                              "not '{}'",
                              message.role));
    }
    text += fmt::format("<|im_start|>{}\n{}<|im_end|>\n", message.role, message.content);
  }
  return text + "<|im_start|>" + std::string(kFakeGenerationPrompt);
}

}  // namespace swarmkv::internal
