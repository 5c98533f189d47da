// Short content digests for reports (xxHash, not cryptographic).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace swarmkv::internal {

/// The memory of plain values as bytes, to be digested.
template <typename T>
std::string_view bytes_of(const std::vector<T>& values) {
  static_assert(std::has_unique_object_representations_v<T>);
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string digest128(std::string_view bytes);  ///< xxh3-128, 32 hex digits
std::string digest64(std::string_view bytes);   ///< xxh3-64, 16 hex digits
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed);

}  // namespace swarmkv::internal
