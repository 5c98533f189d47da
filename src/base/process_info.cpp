#include "base/process_info.h"

#include <sys/utsname.h>

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

bool reset_peak_rss() {
  std::ofstream out("/proc/self/clear_refs");
  out << "5" << std::flush;
  return out.good();
}

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t at = line.find(": ");
    if (at != std::string::npos) return line.substr(at + 2);
  }
  return {};
}

std::string system_name() {
  utsname name{};
  if (::uname(&name) != 0) return {};
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::uint64_t peak_rss_bytes() { return value_of("/proc/self/status", "VmHWM:") * 1024; }
int n_threads_now() { return static_cast<int>(value_of("/proc/self/status", "Threads:")); }

}  // namespace swarmkv::internal
