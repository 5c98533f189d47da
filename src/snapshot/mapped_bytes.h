// A file's bytes in memory, as long as somebody looks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "snapshot/file_handle.h"

namespace swarmkv::internal {

/// A read-only mapping. Move-only.
class MappedBytes {
 public:
  MappedBytes() = default;
  /// errors  kUnreadable
  MappedBytes(const FileHandle& file, std::size_t n_bytes, const std::string& path);
  MappedBytes(MappedBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), n_bytes_(std::exchange(other.n_bytes_, 0)) {}
  MappedBytes& operator=(MappedBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(n_bytes_, other.n_bytes_);
    return *this;
  }
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;
  ~MappedBytes();

  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return {data_, n_bytes_}; }

 private:
  const std::uint8_t* data_ = nullptr;
  std::size_t n_bytes_ = 0;
};

}  // namespace swarmkv::internal
