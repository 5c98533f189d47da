// The bytes of a snapshot file before the engine's state (docs/snapshot_format.md). Pure functions
// over bytes: no files here. Thread-safe.
//
//   fixed part | texts, padded to 8 | token ids | zeros up to a multiple of 64 | state
//   \------ header (checksum) ------/ \ digest /                               \ digest /
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "snapshot/identity.h"

namespace swarmkv::internal {

inline constexpr std::uint32_t kSnapshotVersion = 1;         // frozen: a change is a new number
inline constexpr std::size_t kSnapshotFixedBytes = 120;      // of the header, before its texts
inline constexpr std::size_t kSnapshotMostTextBytes = 4096;  // of one text
inline constexpr std::size_t kSnapshotMostHeaderBytes = std::size_t{1} << 16;

/// What its writer says about a snapshot.
struct SnapshotAbout {
  SnapshotIdentity identity{};
  SnapshotArithmetic arithmetic{};
  std::string document{};         ///< what it was called; a label, never a file name
  std::string model_name{};       ///< the same
  std::int64_t created_at_s = 0;  ///< seconds since 1970, UTC
};

/// All that stands before the tokens, plus what follows from it.
struct SnapshotHeader {
  SnapshotAbout about;
  std::uint32_t format_version = kSnapshotVersion;
  std::uint64_t header_bytes = 0;  ///< = where the token ids begin
  std::uint64_t n_tokens = 0;      ///< 1 ... 2^31 - 1
  std::uint64_t state_offset = 0, state_bytes = 0;
  std::uint64_t file_bytes = 0;
  std::string token_digest;  ///< xxh3-128 of the ids as bytes, 32 hex digits
  std::string state_digest;  ///< the same of the engine's state
};

/// Bytes of the whole file for a state of that size.
/// errors  kInvalidArgument  a text longer than kSnapshotMostTextBytes
[[nodiscard]] std::uint64_t snapshot_file_bytes(const SnapshotAbout& about, std::uint64_t n_tokens,
                                                std::uint64_t state_bytes);

/// All bytes of a file before its state.
/// errors  kInvalidArgument  no tokens or no state, a text longer than kSnapshotMostTextBytes
[[nodiscard]] std::vector<std::uint8_t> encode_snapshot_head(const SnapshotAbout& about,
                                                             std::span<const std::int32_t> tokens,
                                                             std::uint64_t state_bytes,
                                                             const std::string& state_digest);

/// How long the header says it is; 0 if `first` does not reach that far. Unchecked: no more than a
/// hint how much to read.
[[nodiscard]] std::uint64_t claimed_header_bytes(std::span<const std::uint8_t> first);

/// Reads a header and checks all of it that can be checked without the rest of the file.
///
/// in      first: bytes from the file's start, claimed_header_bytes() of them if there are so many;
///         file_bytes: how long the file really is; path: for messages
/// cost    a header is at most 64 KiB; nothing is allocated by a number that the file claims
/// errors  SnapshotError, kCorrupt or kUnsupported (byte order, version)
[[nodiscard]] SnapshotHeader decode_snapshot_header(std::span<const std::uint8_t> first,
                                                    std::uint64_t file_bytes,
                                                    const std::string& path);

}  // namespace swarmkv::internal
