// How much memory this machine can still give.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace swarmkv::internal {

/// Bytes available without swapping, the container's limit (cgroup version 2) included; nothing if
/// the system does not say. `root`: where /proc and /sys are, for tests.
[[nodiscard]] std::optional<std::uint64_t> available_host_memory(const std::string& root = {});

}  // namespace swarmkv::internal
