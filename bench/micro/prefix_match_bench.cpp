// Finding the fork point of a prompt in the tree: paid once by every request that is admitted, and
// by every waiting one (up to 64) when room must be made.
#include "micro/counters.h"
#include "micro/tree_rig.h"

namespace swarmkv::internal {
namespace {

constexpr int kTokens = 100'000;
constexpr int kMinGain = 32;  // as the scheduler asks

void match_all(benchmark::State& state, const TreeRig& rig, const Tokens& prompt, int expected) {
  const PromptView view({}, prompt);
  const int limit = view.size() - 1;
  for (auto _ : state) {
    const auto match = rig.tree.match(view, limit, limit, kMinGain);
    if (match.n != expected) return state.SkipWithError("not the match that was built");
    benchmark::DoNotOptimize(match);
  }
}

// Bounds admission with a long document: 10^5 tokens, all of them matched, in 1 to 10^4 nodes. More
// nodes may cost a map lookup each, no more.
void prefix_match_chain(benchmark::State& state) {
  const Tokens document = some_tokens(kTokens);
  TreeRig rig(fake_context(kTokens));
  rig.add_chain(rig.tree.root(), document, kTokens / static_cast<int>(state.range(0)));
  Tokens prompt = document;
  prompt.push_back('?');
  match_all(state, rig, prompt, kTokens);
  report_per_item(state, "s_per_token", kTokens);
}
BENCHMARK(prefix_match_chain)->Arg(1)->Arg(100)->Arg(10'000);

// Bounds what other prompts in the cache cost: 10^4 nodes in 250 chains that part at the root, one
// chain of 400 tokens is matched. Must not depend on the others.
void prefix_match_comb(benchmark::State& state) {
  constexpr int kChains = 250, kPerChain = kTokens / kChains;
  TreeRig rig(fake_context(kTokens));
  Tokens prompt;
  for (int i = 0; i < kChains; ++i) {
    prompt = some_tokens(kPerChain, i);
    prompt.front() = i;  // all different
    rig.add_chain(rig.tree.root(), prompt, 10);
  }
  prompt.push_back('?');
  match_all(state, rig, prompt, kPerChain);
  report_per_item(state, "s_per_token", kPerChain);
}
BENCHMARK(prefix_match_comb);

// Bounds the worst case of the same: documents that begin alike for fewer tokens than a split is
// worth (a chat template's first words), so that all are compared. A tree has at most as many
// leaves as sequences.
void prefix_match_twins(benchmark::State& state) {
  constexpr int kChains = 250, kPerChain = kTokens / kChains;
  const Tokens alike = some_tokens(kMinGain - 1);
  TreeRig rig(fake_context(kTokens));
  Tokens prompt;
  for (int i = 0; i < kChains; ++i) {
    prompt = some_tokens(kPerChain, i);
    std::copy(alike.begin(), alike.end(), prompt.begin());
    prompt[alike.size()] = i;
    rig.add_chain(rig.tree.root(), prompt, kPerChain);
  }
  prompt.push_back('?');
  match_all(state, rig, prompt, kPerChain);
  report_per_item(state, "s_per_twin", kChains);
}
BENCHMARK(prefix_match_twins);

}  // namespace
}  // namespace swarmkv::internal
