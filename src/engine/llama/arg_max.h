// The place of the largest number: greedy sampling without a candidate array.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

namespace swarmkv::internal {

/// Index of the largest value, the lowest one among equals; NaN never wins. -1 if there is nothing
/// but NaN. One pass finds the block with the maximum (independent lanes, so that compilers use
/// vector instructions without relaxed floating-point rules), a short one the place inside it.
[[nodiscard]] inline int arg_max(std::span<const float> values) {
  constexpr std::size_t kLanes = 16, kBlock = 1024;
  static_assert(kBlock % kLanes == 0);
  constexpr float kLowest = -std::numeric_limits<float>::infinity();

  float best = kLowest;
  std::size_t best_block = 0;
  for (std::size_t start = 0; start < values.size(); start += kBlock) {
    const std::size_t end = std::min(start + kBlock, values.size());
    float lane[kLanes];
    for (float& value : lane) value = kLowest;
    std::size_t i = start;
    for (; i + kLanes <= end; i += kLanes) {
      const float* from = values.data() + i;
      for (std::size_t k = 0; k < kLanes; ++k) lane[k] = from[k] > lane[k] ? from[k] : lane[k];
    }
    for (; i < end; ++i) lane[0] = values[i] > lane[0] ? values[i] : lane[0];
    float top = lane[0];
    for (std::size_t k = 1; k < kLanes; ++k) top = lane[k] > top ? lane[k] : top;
    if (top > best) {
      best = top;
      best_block = start;
    }
  }
  // If nothing is above minus infinity, the first minus infinity may be in any block.
  const std::size_t end =
      best == kLowest ? values.size() : std::min(best_block + kBlock, values.size());
  for (std::size_t i = best_block; i < end; ++i) {
    if (values[i] == best) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace swarmkv::internal
