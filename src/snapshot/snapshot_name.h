// Names of files in a snapshot folder. Nothing else ever reaches the file system there.
//
//   4f1c9a02bb7e35d0-3684-9d20c1a7b8e4f655.swkv            a snapshot
//   4f1c9a02bb7e35d0-3684-9d20c1a7b8e4f655.swkv.damaged    one that was set aside
//   .tmp-4711-0123456789abcdef                             one that is being written
//
// The first part is the beginning of the token digest, then the number of tokens, then a digest of
// format version, identity and arithmetic: from names alone one sees which files can match.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "snapshot/format.h"

namespace swarmkv::internal {

inline constexpr std::string_view kSnapshotSuffix = ".swkv";
inline constexpr std::string_view kDamagedSuffix = ".damaged";
inline constexpr std::string_view kTemporaryPrefix = ".tmp-";
inline constexpr std::size_t kNameDigestDigits = 16;

struct SnapshotName {
  std::string token_digest;  ///< its first kNameDigestDigits
  std::uint64_t n_tokens = 0;
  std::string key;  ///< of version, identity and arithmetic
};

/// Of the file's name, what a name says; nothing if no file of ours is called that.
[[nodiscard]] std::optional<SnapshotName> parse_snapshot_name(std::string_view name);

[[nodiscard]] std::string snapshot_key(const SnapshotIdentity& identity,
                                       const SnapshotArithmetic& arithmetic);
[[nodiscard]] std::string snapshot_name(const SnapshotAbout& about, const std::string& token_digest,
                                        std::uint64_t n_tokens);

/// Unlike any other, also of other processes.
[[nodiscard]] std::string temporary_name();

enum class NameKind { kSnapshot, kDamaged, kTemporary, kOther };
/// *.swkv, *.swkv.damaged, .tmp-PID-RANDOM. Everything else is not ours.
[[nodiscard]] NameKind kind_of_name(std::string_view name);
/// A snapshot, or one that was set aside.
[[nodiscard]] bool is_listed_name(std::string_view name);

/// errors  kInvalidArgument  empty, "." or "..", longer than 255 bytes, with a slash or a control
///         character
void check_snapshot_name(std::string_view name);

}  // namespace swarmkv::internal
