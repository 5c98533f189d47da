#include "text/reasoning.h"

namespace swarmkv::internal {
namespace {

constexpr std::string_view kOpen = "<think>", kClose = "</think>";
constexpr std::string_view kBlank = " \t\r\n";

std::string_view without_blanks_in_front(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

std::string trimmed(std::string_view text) {
  text = without_blanks_in_front(text);
  return std::string(text.substr(0, text.find_last_not_of(kBlank) + 1));
}

}  // namespace

SplitAnswer split_reasoning(std::string_view text, bool opened) {
  const std::string_view from_text = without_blanks_in_front(text);
  const bool opens = from_text.substr(0, kOpen.size()) == kOpen;
  if (!opens && !opened) return {std::string(text), std::nullopt};
  const std::string_view inside = opens ? from_text.substr(kOpen.size()) : text;
  const std::size_t close = inside.find(kClose);
  if (close == std::string_view::npos) return {"", trimmed(inside)};
  const std::string_view rest = inside.substr(close + kClose.size());
  return {std::string(without_blanks_in_front(rest)), trimmed(inside.substr(0, close))};
}

}  // namespace swarmkv::internal
