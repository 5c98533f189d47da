#include "base/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace swarmkv::internal {
namespace {

std::string text_of(const XXH128_hash_t& hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

std::string digest128(std::string_view bytes) {
  return text_of(XXH3_128bits(bytes.data(), bytes.size()));
}

std::string digest64(std::string_view bytes) {
  return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

struct RunningDigest::State {
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> xxh{XXH3_createState(), &XXH3_freeState};
};

RunningDigest::RunningDigest() : state_(std::make_unique<State>()) {
  if (!state_->xxh) throw std::bad_alloc();
  XXH3_128bits_reset(state_->xxh.get());
}

RunningDigest::~RunningDigest() = default;

void RunningDigest::add(std::string_view bytes) {
  XXH3_128bits_update(state_->xxh.get(), bytes.data(), bytes.size());
}

std::string RunningDigest::digest() const {
  return text_of(XXH3_128bits_digest(state_->xxh.get()));
}

}  // namespace swarmkv::internal
