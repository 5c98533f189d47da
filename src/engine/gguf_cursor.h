// A place in a GGUF file that never reads past the end and keeps the place for messages.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <type_traits>

#include "swarmkv/error.h"

namespace swarmkv::internal {

class GgufCursor {
 public:
  GgufCursor(std::istream& in, std::uint64_t size_bytes, std::string name)
      : in_(in), size_(size_bytes), name_(std::move(name)) {}

  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] std::uint64_t remaining() const { return size_ - position_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// A little-endian number. `what` names it in the message if the file ends first.
  template <typename T>
  T read(std::string_view what) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    read_bytes(&value, sizeof value, what);
    return value;
  }

  void skip(std::uint64_t n_bytes, std::string_view what);

  /// A string of at most `limit` bytes; what goes beyond is passed over.
  std::string read_string(std::uint64_t limit, std::string_view what);

  /// errors  kCorrupt  the file holds fewer than `n_bytes` more
  void require(std::uint64_t n_bytes, std::string_view what) const;

  [[noreturn]] void fail(ErrorCode code, const std::string& what) const;

 private:
  void read_bytes(void* to, std::uint64_t n_bytes, std::string_view what);

  std::istream& in_;
  std::uint64_t size_;
  std::uint64_t position_ = 0;
  std::string name_;
};

}  // namespace swarmkv::internal
