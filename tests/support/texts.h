// Texts and requests that tests are made of.
#pragma once

#include <random>
#include <set>
#include <string>
#include <vector>

#include "swarmkv/request.h"

namespace swarmkv::internal {

/// `n` letters that repeat nowhere for long, so that nothing matches by accident.
inline std::string letters(int n, unsigned seed) {
  std::mt19937 rng(seed);
  std::string text;
  for (int i = 0; i < n; ++i) text += static_cast<char>('a' + rng() % 26);
  return text;
}

/// A question no other number's question shares more than a few first letters with.
inline std::string question(int i) {
  return std::to_string(i) + "?" + letters(12, 1000u + static_cast<unsigned>(i));
}

/// What must be computed when declared prefixes are shared and nothing else: every distinct
/// beginning of a prefix once, then each request's own rest, of which at least the last token is
/// its own. Independent of the product.
inline std::int64_t tokens_with_shared_prefixes(const std::vector<Request>& requests) {
  std::set<Tokens> shared, beginnings;
  std::int64_t n_own = 0;
  for (const Request& r : requests) {
    const int n_shared = std::min(r.n_prefix(), r.n_prompt() - 1);
    Tokens path;
    for (int i = 0; i < n_shared; ++i) path.push_back(r.prompt_token(i));
    shared.insert(path);
    n_own += r.n_prompt() - n_shared;
  }
  for (const Tokens& tokens : shared) {
    for (auto end = tokens.begin(); end != tokens.end();)
      beginnings.insert(Tokens(tokens.begin(), ++end));
  }
  return static_cast<std::int64_t>(beginnings.size()) + n_own;
}

}  // namespace swarmkv::internal
