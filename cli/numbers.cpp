#include "cli/numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "cli/settings.h"

namespace swarmkv::cli {
namespace {

template <typename T>
bool parse_whole(std::string_view text, T& out) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  return error == std::errc() && stop == end;
}

}  // namespace

std::int64_t parse_integer(const std::string& source, std::string_view value, std::int64_t min,
                           std::int64_t max) {
  std::int64_t number = 0;
  if (!parse_whole(value, number) || number < min || number > max) {
    throw UsageError(
        fmt::format("{} '{}': must be a whole number from {} to {}", source, value, min, max));
  }
  return number;
}

int parse_int(const std::string& source, std::string_view value, int min, int max) {
  return static_cast<int>(parse_integer(source, value, min, max));
}

int parse_int_or_word(const std::string& source, std::string_view value,
                      std::initializer_list<NumberWord> words, int min, int max) {
  std::string names;
  for (const NumberWord& each : words) {
    if (value == each.word) return each.meaning;
    names += (names.empty() ? "" : ", ") + std::string(each.word);
  }
  int number = 0;
  if (!parse_whole(value, number) || number < min || number > max) {
    throw UsageError(fmt::format("{} '{}': must be {} or a whole number from {} to {}", source,
                                 value, names, min, max));
  }
  return number;
}

double parse_real(const std::string& source, std::string_view value, double min, Bound min_bound,
                  double max, Bound max_bound) {
  double number = 0;
  const bool parsed = parse_whole(value, number) && std::isfinite(number);
  const bool above = min_bound == Bound::kIncluded ? number >= min : number > min;
  const bool below = max_bound == Bound::kIncluded ? number <= max : number < max;
  if (!parsed || !above || !below) {
    throw UsageError(fmt::format("{} '{}': must be a number {} {} and {} {}", source, value,
                                 min_bound == Bound::kIncluded ? "from" : "above", min,
                                 max_bound == Bound::kIncluded ? "up to" : "below", max));
  }
  return number;
}

std::chrono::milliseconds parse_duration(const std::string& source, std::string_view value) {
  constexpr double kYearMs = 365.0 * 24 * 3600 * 1000;
  double number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number, std::chars_format::fixed);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  double scale = 0;
  if (unit == "ms") scale = 1;
  if (unit == "s") scale = 1000;
  if (unit == "m") scale = 60'000;
  if (unit == "h") scale = 3'600'000;
  const double ms = number * scale;
  if (error != std::errc() || scale == 0 || !(ms > 0) || ms > kYearMs) {
    throw UsageError(fmt::format(
        "{} '{}': must be a time above 0 with its unit, for example 500ms, 90s, 5m or 1h", source,
        value));
  }
  return std::chrono::milliseconds(std::max<std::int64_t>(1, std::llround(ms)));
}

std::uint64_t parse_size(const std::string& source, std::string_view value) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
      {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12}};
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t bytes = 0;
  if (parse_whole(value, bytes) && bytes >= 0) return static_cast<std::uint64_t>(bytes);
  for (const auto& [unit, scale] : kUnits) {
    double number = 0;
    if (!value.ends_with(unit)) continue;
    const std::string_view digits = value.substr(0, value.size() - unit.size());
    const bool is_number = !digits.empty() && parse_whole(digits, number);
    // The largest double below 2^63 is far enough from it that the product is exact or too large.
    if (!is_number || !(number >= 0) || number * scale >= static_cast<double>(kMost)) break;
    return static_cast<std::uint64_t>(number * scale);
  }
  throw UsageError(fmt::format(
      "{} '{}': must be bytes, or a number with its unit (KiB, MiB, GiB, KB, MB, GB), for example "
      "500MB or 20GiB",
      source, value));
}

std::string parse_choice(const std::string& source, std::string_view value,
                         std::initializer_list<std::string_view> choices) {
  for (const std::string_view choice : choices) {
    if (value == choice) return std::string(value);
  }
  throw UsageError(
      fmt::format("{} '{}': must be one of {}", source, value, fmt::join(choices, ", ")));
}

bool parse_bool(const std::string& source, std::string_view value) {
  for (const std::string_view yes : {"1", "true", "yes", "on"}) {
    if (value == yes) return true;
  }
  for (const std::string_view no : {"0", "false", "no", "off"}) {
    if (value == no) return false;
  }
  throw UsageError(fmt::format("{} '{}': must be 1 or 0", source, value));
}

std::string parse_date(const std::string& source, std::string_view value) {
  int year = 0, month = 0, day = 0;
  const bool shaped = value.size() == 10 && value[4] == '-' && value[7] == '-' &&
                      parse_whole(value.substr(0, 4), year) &&
                      parse_whole(value.substr(5, 2), month) && parse_whole(value.substr(8), day);
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!shaped || !date.ok()) {
    throw UsageError(fmt::format("{} '{}': must be a date such as 2026-01-31", source, value));
  }
  return std::string(value);
}

std::vector<std::string> parse_names(const std::string& source, std::string_view value) {
  std::vector<std::string> out;
  for (std::string_view rest = value;;) {
    const std::size_t comma = rest.find(',');
    out.emplace_back(rest.substr(0, comma));
    if (out.back().empty()) {
      throw UsageError(source + " '" + std::string(value) + "': must be a list such as a,b,c");
    }
    if (comma == std::string_view::npos) return out;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<int> parse_ints(const std::string& source, std::string_view value, int min, int max) {
  std::vector<int> out;
  for (const std::string& item : parse_names(source, value)) {
    out.push_back(parse_int(source, item, min, max));
  }
  return out;
}

}  // namespace swarmkv::cli
