// Numbers as bytes, the least significant one first, on any machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace swarmkv::internal {

template <typename T>
void append_number(std::vector<std::uint8_t>& to, T value) {
  static_assert(std::is_unsigned_v<T>);
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
}

/// `at` + sizeof(T) <= bytes.size().
template <typename T>
T number_at(std::span<const std::uint8_t> bytes, std::size_t at) {
  static_assert(std::is_unsigned_v<T>);
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | (static_cast<T>(bytes[at + i]) << (8 * i)));
  }
  return value;
}

}  // namespace swarmkv::internal
