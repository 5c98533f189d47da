#include "cli/detail_lines.h"

#include <fmt/format.h>

#include "swarmkv/report.h"

namespace swarmkv::cli {

std::string detail_lines(std::span<const std::pair<const char*, std::string>> rows) {
  std::string out;
  for (const auto& [name, value] : rows) {
    if (!value.empty()) out += fmt::format("{:<18}{}\n", name, escape_for_terminal(value));
  }
  return out;
}

}  // namespace swarmkv::cli
