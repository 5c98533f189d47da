// What the operating system says about this process and machine.
#pragma once

#include <cstdint>

namespace swarmkv::internal {

std::uint64_t peak_rss_bytes();          ///< 0 if unknown
int n_threads_now();                     ///< 0 if unknown
std::uint64_t memory_available_bytes();  ///< 0 if unknown

}  // namespace swarmkv::internal
