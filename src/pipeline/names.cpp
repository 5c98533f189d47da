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

bool is_reserved_name(std::string_view name) {
  return name == "vars" || name == "documents" || name == "agents";
}

}  // namespace swarmkv::internal
