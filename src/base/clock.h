// The one clock: steady, read where something happens.
#pragma once

#include <chrono>

namespace swarmkv::internal {

inline std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

inline double seconds(std::chrono::steady_clock::time_point from,
                      std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace swarmkv::internal
