// A request's chooser of tokens.
//
// Order, as documented in swarmkv/sampling.h: repeat penalty, grammar, top-k, top-p, min-p,
// temperature, draw. The grammar is followed lazily, because asking it about a whole vocabulary
// costs more than a forward: first the token that would be chosen without it, then the 256 best,
// then all. Greedy rows never build a candidate array unless the grammar refuses the best token.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/llama/json_grammar.h"
#include "engine/llama/llama_handle.h"
#include "engine/model.h"

namespace swarmkv::internal {

/// Room for one row's work: one per thread, not one per sampler, since it is as large as a
/// vocabulary.
struct SamplerScratch {
  std::vector<llama_token_data> candidates;
  std::vector<float> row;
};

class LlamaSampler final : public Sampler {
 public:
  /// errors  kInvalidArgument
  LlamaSampler(std::shared_ptr<const LoadedModel> model, const Sampling& sampling);

  /// Chooses a token for the row and accepts it. The row is read only: siblings may share it.
  /// errors  kEngineFailed  no token can be chosen: the row holds no numbers, or no token of the
  /// vocabulary
  ///                        continues the grammar
  Token sample(std::span<const float> logits, SamplerScratch& scratch);

  [[nodiscard]] const LoadedModel* model() const { return model_.get(); }

 private:
  [[nodiscard]] bool penalises() const { return penalty_ != 1.0f && repeat_last_n_ > 0; }
  std::span<const float> penalised(std::span<const float> logits, SamplerScratch& scratch) const;
  void fill(std::span<const float> row, SamplerScratch& scratch) const;
  Token choose(std::span<llama_token_data> candidates) const;
  Token choose_allowed(std::span<const float> row, SamplerScratch& scratch) const;
  void accept(Token token);

  std::shared_ptr<const LoadedModel> model_;
  bool greedy_;
  float penalty_;
  std::size_t repeat_last_n_;
  LlamaSamplerPtr chain_;  // top-k .. draw; null when greedy
  std::optional<JsonGrammar> grammar_;
  std::vector<Token> generated_;              // kept only while penalising
  std::unordered_map<Token, int> in_window_;  // how often a token stands in the window
};

}  // namespace swarmkv::internal
