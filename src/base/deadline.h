// Points in time from limits that callers choose: huge ones mean "never", not an overflow into the
// past.
#pragma once

#include <algorithm>
#include <chrono>

namespace swarmkv::internal {

inline std::chrono::steady_clock::time_point deadline_after(
    std::chrono::steady_clock::time_point from, std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 3650);
  return from + std::min(limit, kLongest);
}

}  // namespace swarmkv::internal
