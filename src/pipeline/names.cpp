#include "pipeline/names.h"

#include <algorithm>

namespace swarmkv::internal {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool has_name_form(std::string_view name) {
  if (name.empty() || name.size() > 64 || !is_lower(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

std::string name_form_hint(std::string_view name) {
  std::string good;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) == 0x80U) continue;  // one character, one '_'
    const bool is_upper = c >= 'A' && c <= 'Z';
    const char low = is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    good += is_lower(low) || is_digit(low) ? low : '_';
  }
  if (!has_name_form(good)) return std::string(kNameRule);
  return "write '" + good + "': " + std::string(kNameRule);
}

bool is_reserved_name(std::string_view name) {
  return name == "vars" || name == "documents" || name == "agents";
}

}  // namespace swarmkv::internal
