// Where things stand in a snapshot file; docs/snapshot_format.md is this table with words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "snapshot/format.h"

namespace swarmkv::internal {

inline constexpr std::array<std::uint8_t, 8> kSnapshotMagic = {'S', 'W', 'A', 'R',
                                                               'M', 'K', 'V', 0x1a};
inline constexpr std::uint32_t kSnapshotByteOrder = 0x0a0b0c0d;
inline constexpr std::uint64_t kSnapshotMostTokens = (std::uint64_t{1} << 31) - 1;
inline constexpr std::size_t kHeaderAlignment = 8, kStateAlignment = 64;

// Offsets of the fixed part. Frozen.
inline constexpr std::size_t kAtByteOrder = 8, kAtVersion = 12, kAtHeaderBytes = 16;
inline constexpr std::size_t kAtTokens = 24, kAtStateOffset = 32, kAtStateBytes = 40;
inline constexpr std::size_t kAtFileBytes = 48, kAtCreated = 56, kAtFlags = 64, kAtTexts = 68;
inline constexpr std::size_t kAtTokenDigest = 72, kAtStateDigest = 88;
inline constexpr std::size_t kAtHeaderDigest = 104;
inline constexpr std::size_t kDigestBytes = 16;

inline constexpr std::uint32_t kFlagDeterministic = 1;  // the only one of version 1

/// A text of the header: its field's name and the place it is kept in. In the order of the file.
struct SnapshotText {
  const char* field;
  std::string& (*in)(SnapshotAbout&);
};

template <std::string SnapshotIdentity::*kText>
std::string& identity_text(SnapshotAbout& about) {
  return about.identity.*kText;
}
template <std::string SnapshotAbout::*kText>
std::string& about_text(SnapshotAbout& about) {
  return about.*kText;
}
inline std::string& recipe_text(SnapshotAbout& about) { return about.arithmetic.recipe; }

inline constexpr std::array<SnapshotText, 13> kSnapshotTexts = {{
    {"model fingerprint", &identity_text<&SnapshotIdentity::model_fingerprint>},
    {"architecture", &identity_text<&SnapshotIdentity::arch>},
    {"KV type of keys", &identity_text<&SnapshotIdentity::cache_type_k>},
    {"KV type of values", &identity_text<&SnapshotIdentity::cache_type_v>},
    {"layout of values", &identity_text<&SnapshotIdentity::value_layout>},
    {"RoPE settings", &identity_text<&SnapshotIdentity::rope>},
    {"KV rotation", &identity_text<&SnapshotIdentity::kv_rotation>},
    {"LoRA", &identity_text<&SnapshotIdentity::lora>},
    {"engine", &identity_text<&SnapshotIdentity::engine>},
    {"state format", &identity_text<&SnapshotIdentity::state_format>},
    {"recipe", &recipe_text},
    {"document", &about_text<&SnapshotAbout::document>},
    {"model name", &about_text<&SnapshotAbout::model_name>},
}};

inline constexpr std::uint64_t rounded_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

/// Where the state begins behind a header of that length and so many token ids.
inline constexpr std::uint64_t state_offset_of(std::uint64_t header_bytes, std::uint64_t n_tokens) {
  return rounded_up(header_bytes + n_tokens * sizeof(std::int32_t), kStateAlignment);
}

}  // namespace swarmkv::internal
