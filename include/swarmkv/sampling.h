#pragma once

#include <cstdint>
#include <string>

namespace swarmkv {

/// How the next token is chosen. The defaults are greedy: always the most probable token.
/// Order of application: repeat penalty, grammar, top-k, top-p, min-p, temperature, draw.
struct Sampling {
  double temperature = 0.0;     ///< 0 = greedy; must be finite and >= 0
  int top_k = 40;               ///< keep the k best; 0 = all; ignored when greedy
  double top_p = 0.95;          ///< nucleus, in (0, 1]; 1 = off
  double min_p = 0.05;          ///< relative floor, in [0, 1); 0 = off
  double repeat_penalty = 1.0;  ///< > 0; 1 = off; applies when greedy, too
  int repeat_last_n = 64;       ///< window of the penalty in generated tokens; >= 0
  std::uint32_t seed = 42;      ///< each agent derives its own from it
  std::string
      json_schema;  ///< JSON Schema text; empty = free text. Output is constrained by grammar

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

}  // namespace swarmkv
