// IEEE half precision without hardware, for masks and reference code.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace swarmkv::internal {

inline constexpr std::uint16_t kHalfMinusInfinity = 0xFC00;

[[nodiscard]] inline float half_to_float(std::uint16_t half) {
  const int exponent = (half >> 10) & 0x1F;
  const int fraction = half & 0x3FF;
  float value = 0;
  if (exponent == 0x1F) {
    value = fraction == 0 ? std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    value = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }
  return (half & 0x8000) != 0 ? -value : value;
}

/// Rounds towards zero, which is enough to make test data; too large becomes infinity.
[[nodiscard]] inline std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const int exponent = static_cast<int>((bits >> 23) & 0xFF) - 127;
  if (exponent >= 16) return static_cast<std::uint16_t>(sign | 0x7C00);
  if (exponent < -24) return sign;
  const std::uint32_t fraction = (bits & 0x7FFFFF) | 0x800000;
  if (exponent < -14) return static_cast<std::uint16_t>(sign | (fraction >> (-exponent - 1)));
  return static_cast<std::uint16_t>(sign | ((exponent + 15) << 10) | ((fraction >> 13) & 0x3FF));
}

}  // namespace swarmkv::internal
