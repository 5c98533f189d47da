// A fake request's chooser of tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/fake/fake_text.h"
#include "engine/model.h"

namespace swarmkv::internal {

/// Greedy takes the model's word; a temperature mixes in the seed and the number of the draw.
/// Top-k, top-p, min-p and the repeat penalty are checked and change nothing. A JSON schema is
/// answered by its smallest instance, then end of generation.
class FakeSampler final : public Sampler {
 public:
  /// errors  kInvalidArgument  a value out of range, a schema outside of the subset (fake_schema.h)
  explicit FakeSampler(const Sampling& sampling);

  /// Chooses and accepts. `forced` wins over all.
  Token draw(std::uint64_t hash, std::span<const Token> tail, std::optional<Token> forced,
             int eog_every);
  [[nodiscard]] std::uint64_t n_draws() const { return n_draws_; }

 private:
  Sampling sampling_;
  std::optional<std::string> instance_;
  std::uint64_t n_draws_ = 0;
};

}  // namespace swarmkv::internal
