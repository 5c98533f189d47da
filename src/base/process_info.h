// What the operating system says about this process and machine.
#pragma once

#include <cstdint>
#include <string>

namespace swarmkv::internal {

std::uint64_t peak_rss_bytes();  ///< 0 if unknown
/// Lets peak_rss_bytes() begin anew. False where the system has no way to do so.
bool reset_peak_rss();
std::string cpu_name();     ///< "" if unknown
std::string system_name();  ///< "Linux 6.1.0 x86_64"; "" if unknown
int n_threads_now();        ///< 0 if unknown

}  // namespace swarmkv::internal
