#include "text/utf8.h"

#include <fmt/format.h>

namespace swarmkv::internal {
namespace {

// First byte's claim: how many bytes, and the range of the second one. The range keeps out overlong
// forms, surrogates and everything beyond U+10FFFF.
struct Lead {
  std::size_t length = 0;
  unsigned char second_low = 0x80, second_high = 0xbf;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xc2) return {0};
  if (byte < 0xe0) return {2};
  if (byte == 0xe0) return {3, 0xa0, 0xbf};
  if (byte == 0xed) return {3, 0x80, 0x9f};
  if (byte < 0xf0) return {3};
  if (byte == 0xf0) return {4, 0x90, 0xbf};
  if (byte < 0xf4) return {4};
  if (byte == 0xf4) return {4, 0x80, 0x8f};
  return {0};
}

bool is_terminal_control(char32_t c) {
  if (c == U'\n' || c == U'\t') return false;
  if (c < 0x20 || (c >= 0x7f && c <= 0x9f)) return true;
  return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

Utf8Step utf8_step(std::string_view text, std::size_t at) {
  using Kind = Utf8Step::Kind;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const Lead lead = lead_of(byte(0));
  if (lead.length == 0) return {Kind::kInvalid, 1, 0};
  if (lead.length == 1) return {Kind::kValid, 1, byte(0)};
  char32_t code = byte(0) & (0x7fU >> lead.length);
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (at + i == text.size()) return {Kind::kUnfinished, i, 0};
    const unsigned char low = i == 1 ? lead.second_low : 0x80;
    const unsigned char high = i == 1 ? lead.second_high : 0xbf;
    if (byte(i) < low || byte(i) > high) return {Kind::kInvalid, i, 0};
    code = (code << 6) | (byte(i) & 0x3fU);
  }
  return {Kind::kValid, lead.length, code};
}

std::size_t incomplete_tail(std::string_view text) {
  for (std::size_t n = 1; n <= 3 && n <= text.size(); ++n) {
    const std::size_t at = text.size() - n;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x80 && byte < 0xc0) continue;  // a continuation: its lead is further left
    const Utf8Step step = utf8_step(text, at);
    return step.kind == Utf8Step::Kind::kUnfinished ? step.length : 0;
  }
  return 0;
}

std::string sanitize_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    if (step.kind == Utf8Step::Kind::kValid) {
      out.append(text.substr(at, step.length));
    } else {
      out.append(kReplacementCharacter);
    }
    at += step.length;
  }
  return out;
}

ByteProblems find_problem_bytes(std::string_view text) {
  ByteProblems problems;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    const bool is_valid = step.kind == Utf8Step::Kind::kValid;
    const bool is_nul = is_valid && step.code_point == 0;
    if ((!is_valid || is_nul) && !problems.any()) problems.first_offset = at;
    if (is_nul) ++problems.n_nul;
    if (!is_valid) problems.n_invalid += step.length;
    at += step.length;
  }
  return problems;
}

std::string escape_control(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    const std::string_view bytes = text.substr(at, step.length);
    at += step.length;
    if (step.kind != Utf8Step::Kind::kValid) {
      for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else if (!is_terminal_control(step.code_point)) {
      out.append(bytes);
    } else if (step.code_point < 0x80) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(step.code_point));
    } else {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(step.code_point));
    }
  }
  return out;
}

}  // namespace swarmkv::internal
