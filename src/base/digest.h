// Short content digests for reports (xxHash, not cryptographic).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace swarmkv::internal {

std::string digest128(std::string_view bytes);  ///< xxh3-128, 32 hex digits
std::string digest64(std::string_view bytes);   ///< xxh3-64, 16 hex digits
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed);

}  // namespace swarmkv::internal
