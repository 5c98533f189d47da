// Which values settings may have; one table for files and for pipelines built in C++.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace swarmkv::internal {

inline constexpr std::chrono::hours kMaxTimeout{168};
/// What `n_gpu_layers: all` becomes: more layers than any model has.
inline constexpr int kAllLayers = 10'000;
/// n_gpu_layers: auto
inline constexpr int kAutoLayers = -1;

struct IntegerLimit {
  std::string_view key;
  std::int64_t min = 0, max = 0;
};

/// The limits of an integer setting by its key; `key` must be one.
const IntegerLimit& integer_limit(std::string_view key);

/// "must be between 0 and 1,000,000"
std::string range_text(const IntegerLimit& limit);

/// What a real setting must be ("in (0, 1]") if `value` is not that; "" if it is.
std::string real_problem(std::string_view key, double value);

}  // namespace swarmkv::internal
