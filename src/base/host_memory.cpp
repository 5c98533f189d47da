#include "base/host_memory.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace swarmkv::internal {
namespace {

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream in(path);
  std::uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;  // absent, or the word "max"
}

// The number after `key` in a file of "key number" lines.
std::optional<std::uint64_t> number_after(const std::string& path, const std::string& key) {
  std::ifstream in(path);
  std::string word;
  while (in >> word) {
    std::uint64_t value = 0;
    if (word == key && in >> value) return value;
    in.ignore(256, '\n');
  }
  return std::nullopt;
}

// What the container's limit leaves. File pages count as used there but make room when asked; a
// mapped model is nothing else.
std::optional<std::uint64_t> left_in_cgroup(const std::string& root) {
  const std::string cgroup = root + "/sys/fs/cgroup/";
  const auto limit = number_in(cgroup + "memory.max");
  const auto used = number_in(cgroup + "memory.current");
  const auto file = number_after(cgroup + "memory.stat", "file");
  const auto shared = number_after(cgroup + "memory.stat", "shmem");
  if (!limit || !used || !file || !shared) return std::nullopt;
  const std::uint64_t reclaimable = *file > *shared ? *file - *shared : 0;
  const std::uint64_t held = *used > reclaimable ? *used - reclaimable : 0;
  return *limit > held ? *limit - held : 0;
}

}  // namespace

std::optional<std::uint64_t> available_host_memory(const std::string& root) {
  const auto kib = number_after(root + "/proc/meminfo", "MemAvailable:");
  const auto left = left_in_cgroup(root);
  if (!kib) return left;
  return left ? std::min(*kib * 1024, *left) : *kib * 1024;
}

}  // namespace swarmkv::internal
