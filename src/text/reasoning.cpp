#include "text/reasoning.h"

#include "text/trim.h"

namespace swarmkv::internal {
namespace {

constexpr std::string_view kOpen = "<think>", kClose = "</think>";

}  // namespace

SplitAnswer split_reasoning(std::string_view text, bool opened) {
  const std::string_view from_text = trim_front(text);
  const bool opens = from_text.substr(0, kOpen.size()) == kOpen;
  if (!opens && !opened) return {std::string(text), std::nullopt};
  const std::string_view inside = opens ? from_text.substr(kOpen.size()) : text;
  const std::size_t close = inside.find(kClose);
  if (close == std::string_view::npos) return {"", std::string(trim(inside))};
  const std::string_view rest = inside.substr(close + kClose.size());
  return {std::string(trim_front(rest)), std::string(trim(inside.substr(0, close)))};
}

}  // namespace swarmkv::internal
