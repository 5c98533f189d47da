#include "pipeline/yaml_bytes.h"

#include <algorithm>

#include "fmt/format.h"
#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

constexpr char kHiddenQuestionMark = '\x01';

// What may stand before a '?' that opens a key: nothing, or another mark of structure.
bool opens_key_after(char before) {
  return std::string_view("\n\r[{,-?:").find(before) != std::string_view::npos;
}

unsigned byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
}

}  // namespace

std::optional<BadByte> find_bad_byte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const unsigned byte = byte_at(text, i);
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F) {
      return BadByte{i, fmt::format("control character {:#04x} is not allowed in YAML", byte),
                     "remove it"};
    }
    const Utf8Step step = utf8_step(text, i);
    if (step.kind != Utf8Step::Kind::kValid) {
      return BadByte{i, fmt::format("byte {:#04x} is not valid UTF-8 here", byte),
                     "save the file as UTF-8"};
    }
    i += step.length;
  }
  return std::nullopt;
}

std::size_t byte_order_mark_length(std::string_view text) {
  return text.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
}

std::string hide_question_marks(std::string_view text) {
  std::string result(text);
  char before = '\n';  // the last byte that is no blank
  for (char& c : result) {
    if (c == ' ' || c == '\t') continue;
    const char shown = c;
    if (c == '?' && !opens_key_after(before)) c = kHiddenQuestionMark;
    before = shown;
  }
  return result;
}

std::string unhide_question_marks(std::string text) {
  std::replace(text.begin(), text.end(), kHiddenQuestionMark, '?');
  return text;
}

std::optional<std::size_t> find_quote_end(std::string_view text, std::size_t offset) {
  while (byte_at(text, offset) == '&') {
    offset = text.find_first_of(" \t\r\n", offset);
    offset = text.find_first_not_of(" \t\r\n", offset);
    if (offset == std::string_view::npos) return text.size();
  }
  const unsigned quote = byte_at(text, offset);
  if (quote != '"' && quote != '\'') return offset;
  for (std::size_t i = offset + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (byte_at(text, i) == quote) {
      if (quote == '"' || byte_at(text, i + 1) != quote) return i + 1;
      ++i;
    }
  }
  return std::nullopt;
}

}  // namespace swarmkv::internal
