// What a YAML text means under YAML 1.2's core schema, and our strict readings of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/yaml_tree.h"

namespace swarmkv::internal {

enum class ScalarType { kNull, kText, kBool, kInt, kFloat, kSequence, kMap };

/// Quoted text is always kText; "yes" and "on" are text, as YAML 1.2 says.
ScalarType scalar_type(const YamlNode& node);

/// "the text 'yes'", "the number 1.5", "nothing", "a list": for "expected ..., found ...".
std::string describe(const YamlNode& node);

/// Decimal digits with an optional sign and nothing else; empty on overflow.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// Decimal, as in YAML's core schema without .inf and .nan; empty if it is not finite.
std::optional<double> parse_real(std::string_view text);

/// "90s", "5m", "1m30s", "500ms": whole numbers with h, m, s, ms, each once, largest first. Empty
/// if malformed.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace swarmkv::internal
