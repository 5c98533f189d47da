#include "engine/llama/json_bounds.h"

#include <charconv>
#include <cstdint>
#include <utility>

#include "fmt/format.h"

namespace swarmkv::internal {
namespace {

constexpr std::pair<const char*, const char*> kBounds[] = {
    {"minLength", "maxLength"}, {"minItems", "maxItems"}, {"minimum", "maximum"}};

}  // namespace

std::string bounds_problem(const common_json& object, const std::string& pointer) {
  for (const auto& [lower, upper] : kBounds) {
    if (!object.contains(lower) || !object.contains(upper)) continue;
    const common_json &from = object.at(lower), &to = object.at(upper);
    if (!from.is_number() || !to.is_number()) continue;  // properties of these names
    if (from.get<double>() <= to.get<double>()) continue;
    return fmt::format("{}/{}: it is {}, below {}, which is {}: no value is both", pointer, upper,
                       to.dump(), lower, from.dump());
  }
  return "";
}

std::string repetition_problem(const std::string& pattern) {
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      ++i;
    } else if (pattern[i] == '[' || pattern[i] == ']') {
      in_class = pattern[i] == '[';
    } else if (pattern[i] == '{' && !in_class) {
      const char* end = pattern.data() + pattern.size();
      std::uint64_t from = 0, to = 0;
      const auto first = std::from_chars(pattern.data() + i + 1, end, from);
      if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',') continue;
      const auto second = std::from_chars(first.ptr + 1, end, to);
      if (second.ec != std::errc() || to >= from) continue;
      return fmt::format("{{{},{}}} asks for at least {} and at most {}", from, to, from, to);
    }
  }
  return "";
}

}  // namespace swarmkv::internal
