#include "snapshot/digest_bytes.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>
#include <string_view>

#include "base/digest.h"

namespace swarmkv::internal {

std::string digest_of(std::span<const std::uint8_t> bytes) {
  return digest128(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

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

struct RunningDigest::State {
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> xxh{XXH3_createState(), &XXH3_freeState};
};

RunningDigest::RunningDigest() : state_(std::make_unique<State>()) {
  if (!state_->xxh) throw std::bad_alloc();
  XXH3_128bits_reset(state_->xxh.get());
}

RunningDigest::~RunningDigest() = default;

void RunningDigest::add(std::span<const std::uint8_t> bytes) {
  XXH3_128bits_update(state_->xxh.get(), bytes.data(), bytes.size());
}

std::string RunningDigest::digest() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->xxh.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace swarmkv::internal
