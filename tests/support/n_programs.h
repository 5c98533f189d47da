#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace swarmkv::internal {

/// How many random programs a test runs: `all`, or as many percent of them as SWARMKV_TEST_PERCENT
/// says. Under sanitizers and emulators each takes ten times as long.
inline std::uint64_t n_programs(std::uint64_t all) {
  const char* percent = std::getenv("SWARMKV_TEST_PERCENT");
  if (percent == nullptr) return all;
  return std::max<std::uint64_t>(1, all * std::strtoull(percent, nullptr, 10) / 100);
}

}  // namespace swarmkv::internal
