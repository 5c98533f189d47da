#include <fmt/format.h>

#include <algorithm>

#include "cli/progress_render.h"

namespace swarmkv::cli {

std::size_t shown_columns(const std::string& line) {
  // As many as the formatter thinks: it fills up to a width, and what it added is the difference.
  constexpr std::size_t kWide = 4096;
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      text += line[i];
    } else {
      i = line.find('m', i);  // we write no other sequence than colours
      if (i == std::string::npos) break;
    }
  }
  const std::size_t padded_size = fmt::formatted_size("{:<4096}", text);
  return padded_size > text.size() ? kWide - (padded_size - text.size()) : kWide;
}

std::size_t rows_when_reflowed(const std::vector<std::size_t>& lines, int columns) {
  const auto width = static_cast<std::size_t>(std::max(columns, 1));
  std::size_t n = 0;
  for (const std::size_t line : lines) n += std::max<std::size_t>(1, (line + width - 1) / width);
  return n;
}

}  // namespace swarmkv::cli
