// The fake model's vocabulary: the 256 bytes, then a handful of control tokens with marker text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/model.h"

namespace swarmkv::internal {

inline constexpr Token kFakeStart = 256;    ///< <|bos|>
inline constexpr Token kFakeTurn = 257;     ///< <|im_start|>
inline constexpr Token kFakeEndTurn = 258;  ///< <|im_end|>, end of generation
inline constexpr Token kFakeEndText = 259;  ///< <|endoftext|>, end of generation, too
inline constexpr Token kFakeFiller = 260;   ///< <|fim|>
inline constexpr Token kFakeTool = 261;     ///< <|tool|>
inline constexpr int kFakeVocabSize = 262;
inline constexpr std::string_view kFakeGenerationPrompt = "assistant\n";  ///< after a kFakeTurn

[[nodiscard]] constexpr bool fake_is_byte(Token token) { return token >= 0 && token < 256; }
/// The text that parses to a control token.
[[nodiscard]] std::string_view fake_marker(Token control);
[[nodiscard]] Tokens fake_tokenize(std::string_view text, SpecialTokens special);
/// All text of `tokens`, control tokens shown as their markers.
[[nodiscard]] std::string fake_text(std::span<const Token> tokens);
/// ChatML, without a default system message; errors kUnsupported for roles it does not know.
[[nodiscard]] std::string fake_render_chat(std::span<const ChatMessage> messages);

}  // namespace swarmkv::internal
