// How values of ours become JSON: unknown is null, text is valid UTF-8, times carry microseconds at
// most.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/utf8.h"

namespace swarmkv::internal {

/// Keeps the order in which keys were added: a report reads top down.
using Json = nlohmann::ordered_json;

inline Json json_text(std::string_view text) { return sanitize_utf8(text); }

/// Empty text means that it is not known.
inline Json json_text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : json_text(text);
}

inline Json json_text_or_null(const std::optional<std::string>& text) {
  return text ? json_text(*text) : Json(nullptr);
}

inline Json json_texts(const std::vector<std::string>& texts) {
  Json out = Json::array();
  for (const std::string& text : texts) out.push_back(json_text(text));
  return out;
}

/// Three decimals: what lies behind them is noise, and it would double the file.
inline Json json_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::round(value * 1000.0) / 1000.0;
}

/// The same of seconds: microseconds, as above.
inline Json json_seconds(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::round(value * 1e6) / 1e6;
}

inline Json json_number(const std::optional<double>& value) {
  return value ? json_number(*value) : Json(nullptr);
}

inline Json json_count(const std::optional<int>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// For quantities that cannot be 0 when they are known, such as bytes of memory in use.
inline Json json_positive(std::uint64_t value) { return value == 0 ? Json(nullptr) : Json(value); }

/// Never throws for the bytes inside: what slipped past json_text becomes a replacement mark.
inline std::string json_dump(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace swarmkv::internal
