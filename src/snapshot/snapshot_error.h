// A snapshot file that cannot be used, in parts: who warns names the file himself.
#pragma once

#include <string>

#include "swarmkv/error.h"

namespace swarmkv::internal {

/// Of a file's tokens.
inline constexpr const char* kNotAsNamed = "others than its name says: renamed or damaged";

/// what() is "[snapshot.open] 'PATH': FIELD: REASON"; field() is a name of docs/snapshot_format.md.
class SnapshotError : public Error {
 public:
  SnapshotError(ErrorCode code, const std::string& path, std::string field, std::string reason);
  ~SnapshotError() override;

  [[nodiscard]] const std::string& field() const noexcept { return field_; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  /// "FIELD: REASON".
  [[nodiscard]] std::string text() const { return field_ + ": " + reason_; }

 private:
  std::string field_, reason_;
};

}  // namespace swarmkv::internal
