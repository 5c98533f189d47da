// Values of foreign JSON: what is missing or of another type counts as unknown.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "report/json_values.h"
#include "swarmkv/report.h"

namespace swarmkv::internal {

/// Null if there is none.
inline const Json& member(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

inline std::optional<std::string> text_if(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

inline std::string text_of(const Json& object, const char* key) {
  return text_if(object, key).value_or("");
}

inline std::vector<std::string> texts_of(const Json& object, const char* key) {
  std::vector<std::string> out;
  for (const Json& item : member(object, key)) {
    if (item.is_string()) out.push_back(item.get<std::string>());
  }
  return out;
}

inline std::optional<double> number_if(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

inline double number_of(const Json& object, const char* key) {
  return number_if(object, key).value_or(0);
}

inline std::optional<std::int64_t> integer_if(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_number_integer()) return std::nullopt;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMost) return std::nullopt;
  return value.get<std::int64_t>();
}

inline std::int64_t integer_of(const Json& object, const char* key) {
  return integer_if(object, key).value_or(0);
}

/// 0 for what is negative, too.
inline std::uint64_t size_of(const Json& object, const char* key) {
  const std::int64_t n = integer_of(object, key);
  return n < 0 ? 0 : static_cast<std::uint64_t>(n);
}

inline std::optional<int> count_if(const Json& object, const char* key) {
  const std::optional<std::int64_t> n = integer_if(object, key);
  using Limits = std::numeric_limits<int>;
  if (!n || *n < Limits::min() || *n > Limits::max()) return std::nullopt;
  return static_cast<int>(*n);
}

inline int count_of(const Json& object, const char* key) {
  return count_if(object, key).value_or(0);
}

inline bool flag_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_boolean() && value.get<bool>();
}

inline Percentiles percentiles_of(const Json& object, const char* key) {
  const Json& p = member(object, key);
  Percentiles out;
  out.p50 = number_if(p, "p50");
  out.p95 = number_if(p, "p95");
  out.p99 = number_if(p, "p99");
  out.max = number_if(p, "max");
  return out;
}

/// The part of a report that is about one agent.
[[nodiscard]] AgentReport read_agent(const Json& agent);

}  // namespace swarmkv::internal
