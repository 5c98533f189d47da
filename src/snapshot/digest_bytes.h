// Digests of a snapshot file: 16 bytes in it, 32 hex digits in the same order everywhere else.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace swarmkv::internal {

/// xxh3-128, 32 hex digits.
[[nodiscard]] std::string digest_of(std::span<const std::uint8_t> bytes);

/// `hex` has 32 hex digits, as the functions here write them.
[[nodiscard]] std::array<std::uint8_t, 16> digest_bytes(const std::string& hex);
[[nodiscard]] std::string digest_text(std::span<const std::uint8_t> sixteen);

}  // namespace swarmkv::internal
