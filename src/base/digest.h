// Short content digests for reports (xxHash, not cryptographic).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace swarmkv::internal {

/// The memory of plain values as bytes, to be digested.
template <typename T>
std::string_view bytes_of(std::span<const T> values) {
  static_assert(std::has_unique_object_representations_v<T>);
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}
template <typename T>
std::string_view bytes_of(const std::vector<T>& values) {
  return bytes_of(std::span<const T>(values));
}

std::string digest128(std::string_view bytes);  ///< xxh3-128, 32 hex digits
std::string digest64(std::string_view bytes);   ///< xxh3-64, 16 hex digits
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed);

/// digest128 of bytes that come in pieces; can be asked after each of them.
class RunningDigest {
 public:
  RunningDigest();
  ~RunningDigest();
  RunningDigest(const RunningDigest&) = delete;
  RunningDigest& operator=(const RunningDigest&) = delete;

  void add(std::string_view bytes);
  [[nodiscard]] std::string digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace swarmkv::internal
