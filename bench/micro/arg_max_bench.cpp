// Greedy sampling's inner loop.
#include <vector>

#include "engine/fake/fake_text.h"
#include "engine/llama/arg_max.h"
#include "micro/counters.h"

namespace swarmkv::internal {
namespace {

// Bounds what one greedy row adds to a step: the largest of 49,152 logits, the vocabulary of the
// demo's model. Should run at the speed at which the second-level cache can be read.
void arg_max_vocabulary(benchmark::State& state) {
  constexpr std::size_t kVocabulary = 49'152;
  std::vector<float> logits(kVocabulary);
  for (std::size_t i = 0; i < kVocabulary; ++i) {
    logits[i] = static_cast<float>(fake_mix(i) % 4096) / 128.0F;
  }
  constexpr int kBest = 31'000;
  logits[kBest] = 100;
  for (auto _ : state) {
    benchmark::DoNotOptimize(logits.data());
    if (arg_max(logits) != kBest) return state.SkipWithError("not the largest");
  }
  report_per_item(state, "s_per_logit", kVocabulary);
}
BENCHMARK(arg_max_vocabulary)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace swarmkv::internal
