// Blanks at the ends of a text.
#pragma once

#include <string_view>

namespace swarmkv::internal {

inline constexpr std::string_view kBlank = " \t\r\n";

[[nodiscard]] inline std::string_view trim_front(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

[[nodiscard]] inline std::string_view trim(std::string_view text) {
  text = trim_front(text);
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

}  // namespace swarmkv::internal
