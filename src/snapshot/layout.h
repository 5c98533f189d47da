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

inline constexpr std::array<SnapshotText, 13> kSnapshotTexts = {
    {{"model fingerprint", [](SnapshotAbout& a) -> auto& {return a.identity.model_fingerprint;
}  // namespace swarmkv::internal
}
, {"architecture", [](SnapshotAbout& a) -> auto& {return a.identity.arch;
}
}
, {"KV type of keys", [](SnapshotAbout& a) -> auto& {return a.identity.cache_type_k;
}
}
, {"KV type of values", [](SnapshotAbout& a) -> auto& {return a.identity.cache_type_v;
}
}
, {"layout of values", [](SnapshotAbout& a) -> auto& {return a.identity.value_layout;
}
}
, {"RoPE settings", [](SnapshotAbout& a) -> auto& {return a.identity.rope;
}
}
, {"KV rotation", [](SnapshotAbout& a) -> auto& {return a.identity.kv_rotation;
}
}
, {"LoRA", [](SnapshotAbout& a) -> auto& {return a.identity.lora;
}
}
, {"engine", [](SnapshotAbout& a) -> auto& {return a.identity.engine;
}
}
, {"state format", [](SnapshotAbout& a) -> auto& {return a.identity.state_format;
}
}
, {"recipe", [](SnapshotAbout& a) -> auto& {return a.arithmetic.recipe;
}
}
, {"document", [](SnapshotAbout& a) -> auto& {return a.document;
}
}
, {"model name", [](SnapshotAbout& a) -> auto& {return a.model_name;
}
}
,
}
}
;

inline constexpr std::uint64_t rounded_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace swarmkv::internal
