#include "cli/detail_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "swarmkv/report.h"

namespace swarmkv::cli {

std::string detail_lines(std::span<const std::pair<const char*, std::string>> rows) {
  std::string out;
  for (const auto& [name, value] : rows) {
    if (value.empty()) continue;
    std::string line = escape_for_terminal(value);
    // A value must not look like rows of its own.
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    out += fmt::format("{:<18}{}\n", name, line);
  }
  return out;
}

}  // namespace swarmkv::cli
