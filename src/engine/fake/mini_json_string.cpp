// Strings of MiniJson: escapes, read and written.
#include <fmt/format.h>

#include <charconv>

#include "engine/fake/mini_json.h"

namespace swarmkv::internal {
namespace {

void append_utf8(std::string& out, unsigned code) {
  const auto put = [&out](unsigned byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      put(0xe0 | (code >> 12));
    } else {
      put(0xf0 | (code >> 18));
      put(0x80 | ((code >> 12) & 0x3f));
    }
    put(0x80 | ((code >> 6) & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

bool read_hex(std::string_view text, std::size_t& at, unsigned& code) {
  if (text.size() - at < 4) return false;
  const char* begin = text.data() + at;
  const auto [stop, error] = std::from_chars(begin, begin + 4, code, 16);
  at += 4;
  return error == std::errc() && stop == begin + 4;
}

// `at` stands behind the backslash.
bool read_escape(std::string_view text, std::size_t& at, std::string& out) {
  if (at >= text.size()) return false;
  constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
  const char c = text[at++];
  if (const auto i = kNames.find(c); i != std::string_view::npos) {
    out.push_back(kValues[i]);
    return true;
  }
  unsigned code = 0;
  if (c != 'u' || !read_hex(text, at, code)) return false;
  if (code >= 0xdc00 && code <= 0xdfff) return false;
  if (code >= 0xd800 && code <= 0xdbff) {
    if (text.substr(at, 2) != "\\u") return false;
    at += 2;
    unsigned low = 0;
    if (!read_hex(text, at, low) || low < 0xdc00 || low > 0xdfff) return false;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(out, code);
  return true;
}

}  // namespace

bool read_mini_json_string(std::string_view text, std::size_t& at, std::string& out) {
  if (text.substr(at, 1) != "\"") return false;
  ++at;
  while (at < text.size()) {
    const char c = text[at++];
    if (c == '"') return true;
    if (static_cast<unsigned char>(c) < 0x20) return false;
    if (c != '\\') {
      out.push_back(c);
    } else if (!read_escape(text, at, out)) {
      return false;
    }
  }
  return false;
}

std::string mini_json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

}  // namespace swarmkv::internal
