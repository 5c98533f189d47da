#include "base/process_info.h"

#include <fstream>
#include <string>

namespace swarmkv::internal {
namespace {

// "Key:   123 kB" lines of a /proc file; elsewhere the file does not exist and the answer is
// "unknown".
std::uint64_t value_of(const char* path, const std::string& key) {
  std::ifstream in(path);
  std::string word;
  while (in >> word) {
    std::uint64_t value = 0;
    if (word == key && in >> value) return value;
  }
  return 0;
}

}  // namespace

std::uint64_t peak_rss_bytes() { return value_of("/proc/self/status", "VmHWM:") * 1024; }
int n_threads_now() { return static_cast<int>(value_of("/proc/self/status", "Threads:")); }
std::uint64_t memory_available_bytes() { return value_of("/proc/meminfo", "MemAvailable:") * 1024; }

}  // namespace swarmkv::internal
