// Numbers of the GGUF format: how many bytes tensors take, and what quantisations are called.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace swarmkv::internal {

struct GgufTensorType {
  const char* name;
  std::uint32_t block;        ///< elements per block
  std::uint32_t block_bytes;  ///< bytes per block
};

/// Nothing for numbers that are not assigned, or newer than this table.
[[nodiscard]] std::optional<GgufTensorType> gguf_tensor_type(std::uint32_t type);

/// The name under "general.file_type", for example "Q4_K_M"; empty if unknown.
[[nodiscard]] std::string gguf_file_type_name(std::int64_t file_type);

/// Bytes of one metadata value of a fixed-size type; 0 for strings, arrays and unknown types.
[[nodiscard]] std::uint32_t gguf_value_bytes(std::uint32_t value_type);

inline constexpr std::uint32_t kGgufString = 8;
inline constexpr std::uint32_t kGgufArray = 9;

}  // namespace swarmkv::internal
