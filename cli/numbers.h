// Strict values: the whole text must be one value inside its range, or the message names both.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace swarmkv::cli {

/// `source` is what the value was given to: "--threads" or "SWARMKV_THREADS".
/// errors  UsageError
std::int64_t parse_integer(const std::string& source, std::string_view value, std::int64_t min,
                           std::int64_t max);
int parse_int(const std::string& source, std::string_view value, int min, int max);

/// A word that may stand in place of a number, and the number it becomes.
struct NumberWord {
  std::string_view word;
  int meaning;
};
/// errors  UsageError  naming the words and the range
int parse_int_or_word(const std::string& source, std::string_view value,
                      std::initializer_list<NumberWord> words, int min, int max);
/// "1,2,8": one or several, each within the range.
std::vector<int> parse_ints(const std::string& source, std::string_view value, int min, int max);
/// "a,b": one or several texts, none of them empty.
std::vector<std::string> parse_names(const std::string& source, std::string_view value);

enum class Bound { kIncluded, kExcluded };
double parse_real(const std::string& source, std::string_view value, double min, Bound min_bound,
                  double max, Bound max_bound);

/// "500ms", "90s", "5m", "1h"; at most a year. A number without a unit could mean anything and is
/// refused.
std::chrono::milliseconds parse_duration(const std::string& source, std::string_view value);

/// "500MB", "1.5GiB", "1048576": bytes, at most 2^63 - 1. KiB, MiB, GiB and TiB are powers of 1024,
/// KB, MB, GB and TB of 1000.
std::uint64_t parse_size(const std::string& source, std::string_view value);

std::string parse_choice(const std::string& source, std::string_view value,
                         std::initializer_list<std::string_view> choices);

/// For switches in the environment: 1 true yes on / 0 false no off.
bool parse_bool(const std::string& source, std::string_view value);

/// "2026-01-31".
std::string parse_date(const std::string& source, std::string_view value);

}  // namespace swarmkv::cli
