#include "pipeline/limits.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

namespace swarmkv::internal {
namespace {

constexpr std::array<IntegerLimit, 18> kIntegerLimits{{
    {"max_tokens", 0, 1'000'000},
    {"top_k", 0, 1'000'000},
    {"repeat_last_n", 0, 1'000'000},
    {"seed", 0, std::numeric_limits<std::uint32_t>::max()},
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

const IntegerLimit& integer_limit(std::string_view key) {
  const auto found = std::find_if(kIntegerLimits.begin(), kIntegerLimits.end(),
                                  [&](const IntegerLimit& limit) { return limit.key == key; });
  assert(found != kIntegerLimits.end());
  return *found;
}

std::string range_text(const IntegerLimit& limit) {
  return "must be between " + grouped(limit.min) + " and " + grouped(limit.max);
}

std::string real_problem(std::string_view key, double value) {
  if (key == "top_p") return value > 0 && value <= 1 ? "" : "above 0 and at most 1";
  if (key == "min_p") return value >= 0 && value < 1 ? "" : "at least 0 and below 1";
  if (key == "repeat_penalty") {
    return std::isfinite(value) && value > 0 ? "" : "a finite number above 0";
  }
  return std::isfinite(value) && value >= 0 ? "" : "a finite number, 0 or more";
}

}  // namespace swarmkv::internal
