// Which values settings may have; one table for files and for pipelines built in C++.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
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
/// Null if `key` is no integer setting.
const IntegerLimit* find_integer_limit(std::string_view key);

/// "must be between 0 and 1,000,000"
std::string range_text(const IntegerLimit& limit);

struct RealLimit {
  std::string_view key;
  double min = 0, max = 0;
  bool min_included = true, max_included = true;
  std::string_view words;  ///< what a value must be: "above 0 and at most 1"
};

/// Null if `key` is no real setting.
const RealLimit* find_real_limit(std::string_view key);

/// What a real setting must be if `value` is not that; "" if it is. `key` must be one.
std::string real_problem(std::string_view key, double value);

/// The words that a setting may have; empty if it is not one of a choice. Beside those of
/// `snapshot` it may be a file.
std::span<const std::string> choices_of(std::string_view key);

/// A word of ours, or a path: that has a slash or a dot in it, so that a slip ("on", "atuo") is not
/// taken for the name of a file.
bool is_snapshot_setting(std::string_view value);
/// The same for a schema: what the path matches.
inline constexpr const char* kSnapshotPathPattern = "[./]";

}  // namespace swarmkv::internal
