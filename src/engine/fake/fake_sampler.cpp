#include "engine/fake/fake_sampler.h"

#include "engine/fake/fake_schema.h"
#include "engine/fake/fake_vocab.h"
#include "engine/sampling_check.h"

namespace swarmkv::internal {

FakeSampler::FakeSampler(const Sampling& sampling) : sampling_(sampling) {
  check_sampling(sampling);
  if (!sampling.json_schema.empty()) instance_ = smallest_instance(sampling.json_schema);
}

Token FakeSampler::draw(std::uint64_t hash, std::span<const Token> tail,
                        std::optional<Token> forced, int eog_every) {
  const std::uint64_t n = n_draws_++;
  if (forced) return *forced;
  if (instance_) {
    return n < instance_->size() ? static_cast<unsigned char>((*instance_)[n]) : kFakeEndTurn;
  }
  if (sampling_.temperature > 0) {
    hash ^= fake_mix((static_cast<std::uint64_t>(sampling_.seed) << 32) ^ (n + 1));
  }
  return fake_next_token(hash, tail, eog_every);
}

}  // namespace swarmkv::internal
