#include "pipeline/limits.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

#include "base/kv_type_names.h"

namespace swarmkv::internal {
namespace {

constexpr std::array<IntegerLimit, 19> kIntegerLimits{{
    {"max_tokens", 0, 1'000'000},
    {"top_k", 0, 1'000'000},
    {"repeat_last_n", 0, 1'000'000},
    {"seed", 0, std::numeric_limits<std::uint32_t>::max()},
    {"ready_after", 0, 100'000'000},
    {"priority", -1'000'000, 1'000'000},
    {"ctx_size", 1, 100'000'000},
    {"n_gpu_layers", 0, kAllLayers},
    {"threads", 1, 512},
    {"threads_batch", 1, 512},
    {"batch_size", 1, 65'536},
    {"parallel", 1, 240},
    {"version", 1, 1},
    {"document_tokens", 1, 16'777'216},
    {"suffix_tokens", 1, 1'000'000},
    {"output_tokens", 0, 1'000'000},
    {"agents", 1, 10'000},
    {"trials", 1, 100'000},
    {"warmup", 0, 1'000},
}};

constexpr double kNoEnd = std::numeric_limits<double>::infinity();
constexpr std::array<RealLimit, 4> kRealLimits{{
    {"temperature", 0, kNoEnd, true, true, "a finite number, 0 or more"},
    {"top_p", 0, 1, false, true, "above 0 and at most 1"},
    {"min_p", 0, 1, true, false, "at least 0 and below 1"},
    {"repeat_penalty", 0, kNoEnd, false, true, "a finite number above 0"},
}};

template <typename Limits>
const typename Limits::value_type* find(const Limits& limits, std::string_view key) {
  const auto found = std::find_if(limits.begin(), limits.end(),
                                  [&](const auto& limit) { return limit.key == key; });
  return found == limits.end() ? nullptr : &*found;
}

// 1234567 -> "1,234,567", as in every other number people read.
std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

}  // namespace

const IntegerLimit* find_integer_limit(std::string_view key) { return find(kIntegerLimits, key); }

const IntegerLimit& integer_limit(std::string_view key) {
  const IntegerLimit* limit = find_integer_limit(key);
  assert(limit != nullptr);
  return *limit;
}

const RealLimit* find_real_limit(std::string_view key) { return find(kRealLimits, key); }

std::string range_text(const IntegerLimit& limit) {
  return "must be between " + grouped(limit.min) + " and " + grouped(limit.max);
}

std::string real_problem(std::string_view key, double value) {
  const RealLimit* limit = find_real_limit(key);
  assert(limit != nullptr);
  const bool above = limit->min_included ? value >= limit->min : value > limit->min;
  const bool below = limit->max_included ? value <= limit->max : value < limit->max;
  return above && below && std::isfinite(value) ? "" : std::string(limit->words);
}

std::span<const std::string> choices_of(std::string_view key) {
  static const std::vector<std::string> cache_types(kKvTypeNames.begin(), kKvTypeNames.end());
  static const std::array<std::string, 3> flash{"on", "off", "auto"};
  static const std::array<std::string, 2> auto_all{"auto", "all"};
  static const std::array<std::string, 2> snapshot{"off", "auto"};
  if (key == "cache_type_k" || key == "cache_type_v") return cache_types;
  if (key == "flash_attn") return flash;
  if (key == "n_gpu_layers") return auto_all;
  if (key == "ctx_size") return std::span<const std::string>(auto_all).first(1);
  if (key == "snapshot") return snapshot;
  return {};
}

bool is_snapshot_setting(std::string_view value) {
  const std::span<const std::string> words = choices_of("snapshot");
  return std::find(words.begin(), words.end(), value) != words.end() ||
         value.find_first_of("./") != std::string_view::npos;
}

}  // namespace swarmkv::internal
