// What snapshots ask of the machine, in one place, so that tests put another machine under them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/host_memory.h"
#include "snapshot/system_calls.h"

namespace swarmkv::internal {

struct SnapshotHost {
  const SystemCalls* calls = &system_calls();  ///< outlives the engine that uses them
  std::function<std::optional<std::uint64_t>()> memory_available_bytes = [] {
    return available_host_memory();
  };
  /// Of a disk that has to be asked; a file that was written lately is read from memory, ten times
  /// as fast.
  double disk_bytes_per_ms = 500e3;
};

}  // namespace swarmkv::internal
