// How much memory this machine can still give.
#pragma once

#include <cstdint>
#include <optional>

namespace swarmkv::internal {

/// Bytes available without swapping, the cgroup's limit included; nothing if the system does not
/// say.
[[nodiscard]] std::optional<std::uint64_t> available_host_memory();

}  // namespace swarmkv::internal
