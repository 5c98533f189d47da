// Far more requests than fit: every end lets somebody in, every growth may push somebody out.
#include <optional>

#include "micro/core_rig.h"
#include "micro/counters.h"
#include "micro/tree_rig.h"

namespace swarmkv::internal {
namespace {

// Bounds what a crowd costs, all of it divided by the tokens written: N requests of 200 tokens over
// one document in a pool where about 20 of them are done at a time, so that cells are always short
// and branches are preempted. Must not depend on how many wait.
void queue_ours(benchmark::State& state) {
  constexpr int kDocument = 1'000, kMaxTokens = 200, kCells = 4'096;
  const auto n_requests = static_cast<int>(state.range(0));
  const auto document = std::make_shared<const Tokens>(some_tokens(kDocument));
  std::optional<CoreRig> rig;
  for (auto _ : state) {
    state.PauseTiming();
    rig.emplace(quiet_context(kCells), 240);
    for (int i = 0; i < n_requests; ++i) rig->submit(document, {}, kMaxTokens);
    state.ResumeTiming();
    rig->run_to_end();
  }
  report_per_item(state, "s_per_token", static_cast<double>(n_requests) * kMaxTokens);
  state.counters["n_preemptions"] = rig->core.stats().n_preemptions;
  state.counters["n_forwards"] = static_cast<double>(rig->core.stats().counters.n_forwards);
}
BENCHMARK(queue_ours)->Arg(100)->Arg(1'000)->Arg(4'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace swarmkv::internal
