// What a fake model says: pronounceable lower-case words chosen by a hash of what it sees.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/fake/fake_options.h"

namespace swarmkv::internal {

/// Bijective scrambling of 64 bits; every input bit moves about half of the output bits.
[[nodiscard]] constexpr std::uint64_t fake_mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// One cell's share in a sequence's sum. The sum does not depend on the order of its terms, so it
/// can be kept up to date cell by cell; token and position are both in it.
[[nodiscard]] constexpr std::uint64_t fake_cell_hash(Token token, Pos pos) {
  return fake_mix((static_cast<std::uint64_t>(static_cast<std::uint32_t>(token)) << 32) |
                  static_cast<std::uint32_t>(pos));
}

/// The next token for a row whose visible cells sum up to `hash` and whose last tokens are `tail`
/// (8 are enough). Never ends in the middle of a character.
[[nodiscard]] Token fake_next_token(std::uint64_t hash, std::span<const Token> tail, int eog_every);

/// The next token of a forced answer, if one applies to a row that sees `visible`.
[[nodiscard]] std::optional<Token> fake_forced_token(const std::vector<FakeOptions::Forced>& forced,
                                                     std::span<const Token> visible);

}  // namespace swarmkv::internal
