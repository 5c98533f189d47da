#include "snapshot/digest_bytes.h"

#include <fmt/format.h>

#include "base/digest.h"

namespace swarmkv::internal {

std::string digest_of(std::span<const std::uint8_t> bytes) { return digest128(bytes_of(bytes)); }

std::array<std::uint8_t, 16> digest_bytes(const std::string& hex) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::array<std::uint8_t, 16> out{};
  for (std::size_t i = 0; i < out.size() && 2 * i + 1 < hex.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(value(hex[2 * i]) * 16 + value(hex[2 * i + 1]));
  }
  return out;
}

std::string digest_text(std::span<const std::uint8_t> sixteen) {
  std::string out;
  for (const std::uint8_t byte : sixteen) out += fmt::format("{:02x}", byte);
  return out;
}

}  // namespace swarmkv::internal
