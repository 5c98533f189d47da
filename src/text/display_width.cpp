#include <algorithm>
#include <array>

#include "text/table.h"
#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

struct Block {
  char32_t first, last;
};

constexpr std::array<Block, 9> kZeroWidth = {{{0x0300, 0x036f},
                                              {0x0483, 0x0489},
                                              {0x0591, 0x05bd},
                                              {0x064b, 0x065f},
                                              {0x1ab0, 0x1aff},
                                              {0x200b, 0x200f},
                                              {0x20d0, 0x20ff},
                                              {0xfe00, 0xfe0f},
                                              {0xfe20, 0xfe2f}}};
constexpr std::array<Block, 12> kDoubleWidth = {{{0x1100, 0x115f},
                                                 {0x2e80, 0x303e},
                                                 {0x3041, 0x4dbf},
                                                 {0x4e00, 0xa4cf},
                                                 {0xa960, 0xa97f},
                                                 {0xac00, 0xd7a3},
                                                 {0xf900, 0xfaff},
                                                 {0xfe30, 0xfe6f},
                                                 {0xff00, 0xff60},
                                                 {0xffe0, 0xffe6},
                                                 {0x1f300, 0x1faff},
                                                 {0x20000, 0x3fffd}}};

template <std::size_t N>
bool is_in(const std::array<Block, N>& blocks, char32_t c) {
  return std::any_of(blocks.begin(), blocks.end(),
                     [c](const Block& b) { return c >= b.first && c <= b.last; });
}

std::size_t width_of(const Utf8Step& step) {
  if (step.kind != Utf8Step::Kind::kValid) return 1;
  const char32_t c = step.code_point;
  if (c < 0x20 || (c >= 0x7f && c < 0xa0)) return 0;
  if (c < 0x300) return 1;
  if (is_in(kZeroWidth, c)) return 0;
  return is_in(kDoubleWidth, c) ? 2 : 1;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    width += width_of(step);
    at += step.length;
  }
  return width;
}

std::string fit_width(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  constexpr std::string_view kEllipsis = "\xe2\x80\xa6";  // U+2026
  std::size_t used = 1, at = 0;
  while (at < text.size()) {
    const Utf8Step step = utf8_step(text, at);
    if (used + width_of(step) > width) break;
    used += width_of(step);
    at += step.length;
  }
  return std::string(text.substr(0, at)) + std::string(kEllipsis);
}

}  // namespace swarmkv::internal
