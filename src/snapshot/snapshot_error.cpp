#include "snapshot/snapshot_error.h"

#include <fmt/format.h>

namespace swarmkv::internal {

SnapshotError::SnapshotError(ErrorCode code, const std::string& path, std::string field,
                             std::string reason)
    : Error(code, fmt::format("[snapshot.open] '{}': {}: {}", path, field, reason)),
      field_(std::move(field)),
      reason_(std::move(reason)) {}

SnapshotError::~SnapshotError() = default;

}  // namespace swarmkv::internal
