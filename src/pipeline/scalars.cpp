#include "pipeline/scalars.h"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t count_digits(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return n;
}

std::string_view without_sign(std::string_view text) {
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  return text;
}

bool has_integer_form(std::string_view text) {
  text = without_sign(text);
  return !text.empty() && count_digits(text) == text.size();
}

// [-+]? ( . digits | digits ( . digits? )? ) ( [eE] [-+]? digits )?
bool has_real_form(std::string_view text) {
  text = without_sign(text);
  const std::size_t n_whole = count_digits(text);
  text.remove_prefix(n_whole);
  std::size_t n_fraction = 0;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    n_fraction = count_digits(text);
    text.remove_prefix(n_fraction);
  }
  if (n_whole + n_fraction == 0) return false;
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  return has_integer_form(text);
}

bool is_special_real(std::string_view text) {
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return true;
  text = without_sign(text);
  return text == ".inf" || text == ".Inf" || text == ".INF";
}

bool is_boolean(std::string_view text) {
  return text == "true" || text == "True" || text == "TRUE" || text == "false" || text == "False" ||
         text == "FALSE";
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kMaxShown = 40;
  if (text.size() <= kMaxShown) return std::string(text);
  std::size_t at = 0;
  while (at < kMaxShown) at += utf8_step(text, at).length;
  return std::string(text.substr(0, at)) + "...";
}

}  // namespace

ScalarType scalar_type(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return ScalarType::kNull;
    case YamlNode::Kind::kSequence:
      return ScalarType::kSequence;
    case YamlNode::Kind::kMap:
      return ScalarType::kMap;
    case YamlNode::Kind::kText:
      break;
  }
  if (!node.plain) return ScalarType::kText;
  if (has_integer_form(node.text)) return ScalarType::kInt;
  if (has_real_form(node.text) || is_special_real(node.text)) return ScalarType::kFloat;
  return is_boolean(node.text) ? ScalarType::kBool : ScalarType::kText;
}

std::string describe(const YamlNode& node) {
  switch (scalar_type(node)) {
    case ScalarType::kNull:
      return "nothing";
    case ScalarType::kText:
      return "the text '" + shortened(node.text) + "'";
    case ScalarType::kBool:
      return node.text;
    case ScalarType::kInt:
    case ScalarType::kFloat:
      return "the number " + shortened(node.text);
    case ScalarType::kSequence:
      return "a list";
    case ScalarType::kMap:
      return "a mapping";
  }
  return "nothing";
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (!has_integer_form(text)) return std::nullopt;
  if (text.front() == '+') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  if (!has_real_form(text)) return std::nullopt;
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::int64_t ms;
  };
  constexpr std::array<Unit, 4> kUnits{{{"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
  constexpr std::size_t kMaxDigits = 9;  // keeps every sum far from overflow
  if (text.empty()) return std::nullopt;

  std::int64_t total = 0;
  std::size_t next_unit = 0;
  while (!text.empty()) {
    const std::size_t n_digits = count_digits(text);
    if (n_digits == 0 || n_digits > kMaxDigits) return std::nullopt;
    const std::int64_t count = *parse_integer(text.substr(0, n_digits));
    text.remove_prefix(n_digits);
    std::size_t n_letters = 0;
    while (n_letters < text.size() && !is_digit(text[n_letters])) ++n_letters;
    const std::string_view name = text.substr(0, n_letters);
    text.remove_prefix(n_letters);
    std::size_t unit = next_unit;
    while (unit < kUnits.size() && kUnits[unit].name != name) ++unit;
    if (unit == kUnits.size()) return std::nullopt;
    total += count * kUnits[unit].ms;
    next_unit = unit + 1;
  }
  return std::chrono::milliseconds(total);
}

}  // namespace swarmkv::internal
