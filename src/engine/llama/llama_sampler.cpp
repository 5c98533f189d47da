#include "engine/llama/llama_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/llama/arg_max.h"
#include "engine/sampling_check.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
constexpr std::size_t kGrammarBest = 256;

// Below this the draw is the arg-max in float arithmetic, and the division may overflow.
constexpr double kLeastTemperature = 1e-6;

bool better(const llama_token_data& a, const llama_token_data& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

LlamaSamplerPtr make_chain(const Sampling& sampling) {
  llama_sampler_chain_params params = llama_sampler_chain_default_params();
  params.no_perf = true;
  LlamaSamplerPtr chain(llama_sampler_chain_init(params));
  // The runtime takes this one seed to mean "a random one".
  const std::uint32_t seed =
      sampling.seed == LLAMA_DEFAULT_SEED ? LLAMA_DEFAULT_SEED - 1 : sampling.seed;
  const auto add = [&](llama_sampler* next) { llama_sampler_chain_add(chain.get(), next); };
  if (sampling.top_k > 0) add(llama_sampler_init_top_k(sampling.top_k));
  if (sampling.top_p < 1.0) add(llama_sampler_init_top_p(static_cast<float>(sampling.top_p), 1));
  if (sampling.min_p > 0.0) add(llama_sampler_init_min_p(static_cast<float>(sampling.min_p), 1));
  add(llama_sampler_init_temp(static_cast<float>(sampling.temperature)));
  add(llama_sampler_init_dist(seed));
  return chain;
}

}  // namespace

LlamaSampler::LlamaSampler(std::shared_ptr<const LoadedModel> model, const Sampling& sampling)
    : model_(std::move(model)),
      greedy_(sampling.temperature < kLeastTemperature),
      penalty_(static_cast<float>(sampling.repeat_penalty)),
      repeat_last_n_(static_cast<std::size_t>(std::max(sampling.repeat_last_n, 0))) {
  check_sampling(sampling);
  if (!greedy_) chain_ = make_chain(sampling);
  if (!sampling.json_schema.empty()) grammar_.emplace(model_->vocab, sampling.json_schema);
}

Token LlamaSampler::sample(std::span<const float> logits, SamplerScratch& scratch) {
  const std::span<const float> row = penalised(logits, scratch);
  Token token = -1;
  if (greedy_) {
    token = arg_max(row);
  } else {
    fill(row, scratch);
    token = choose(scratch.candidates);
  }
  if (token < 0 || !(row[static_cast<std::size_t>(token)] > kNever)) {
    throw Error(
        ErrorCode::kEngineFailed,
        "[engine.sample] the logits hold no number above minus infinity: the computation or "
        "the cache is damaged");
  }
  if (grammar_ && !grammar_->allows(token)) token = choose_allowed(row, scratch);
  accept(token);
  return token;
}

std::span<const float> LlamaSampler::penalised(std::span<const float> logits,
                                               SamplerScratch& scratch) const {
  if (!penalises() || in_window_.empty()) return logits;
  scratch.row.assign(logits.begin(), logits.end());
  constexpr float kMost = std::numeric_limits<float>::max();
  for (const auto& [token, count] : in_window_) {
    float& logit = scratch.row[static_cast<std::size_t>(token)];
    // Dividing a negative logit would make the token likelier.
    const float moved = logit > 0.0f ? logit / penalty_ : logit * penalty_;
    if (std::isfinite(logit)) logit = std::clamp(moved, -kMost, kMost);
  }
  return scratch.row;
}

void LlamaSampler::fill(std::span<const float> row, SamplerScratch& scratch) const {
  scratch.candidates.resize(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    // NaN would break the order that sorting relies on.
    const float logit = row[i] == row[i] ? row[i] : kNever;
    scratch.candidates[i] = {static_cast<Token>(i), logit, 0.0f};
  }
}

Token LlamaSampler::choose(std::span<llama_token_data> candidates) const {
  if (greedy_) return std::min_element(candidates.begin(), candidates.end(), better)->id;
  llama_token_data_array array{candidates.data(), candidates.size(), -1, false};
  llama_sampler_apply(chain_.get(), &array);
  if (array.selected < 0 || static_cast<std::size_t>(array.selected) >= array.size) return -1;
  return array.data[array.selected].id;
}

Token LlamaSampler::choose_allowed(std::span<const float> row, SamplerScratch& scratch) const {
  for (const std::size_t limit : {kGrammarBest, row.size()}) {
    fill(row, scratch);
    auto& candidates = scratch.candidates;
    if (limit < candidates.size()) {
      const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(limit);
      std::nth_element(candidates.begin(), end, candidates.end(), better);
      candidates.resize(limit);
      // Their order must not depend on how the selection moved them, or a draw would.
      std::sort(candidates.begin(), candidates.end(), better);
    }
    grammar_->reject(candidates);
    std::erase_if(candidates, [](const llama_token_data& c) { return !(c.logit > kNever); });
    if (!candidates.empty()) return choose(candidates);
  }
  throw Error(ErrorCode::kEngineFailed,
              "[engine.sample] no token of the vocabulary continues the JSON schema's grammar");
}

void LlamaSampler::accept(Token token) {
  if (grammar_) grammar_->accept(token);
  if (!penalises()) return;
  generated_.push_back(token);
  ++in_window_[token];
  if (generated_.size() <= repeat_last_n_) return;
  const auto left = in_window_.find(generated_[generated_.size() - 1 - repeat_last_n_]);
  if (--left->second == 0) in_window_.erase(left);
}

}  // namespace swarmkv::internal
