// A step of the scheduler: admit, compose, forward, deliver. What it takes is time in which the
// model does not compute.
#include <optional>

#include "micro/core_rig.h"
#include "micro/counters.h"
#include "micro/quiet_context.h"
#include "micro/tree_rig.h"

namespace swarmkv::internal {
namespace {

constexpr int kPlenty = 1 << 28;  // cells; the quiet context has none really
constexpr int kPerNode = 10;

std::vector<int> cuts_every(int n_tokens, int n_nodes) {
  std::vector<int> cuts;
  for (int i = 1; i < n_nodes; ++i) cuts.push_back(i * (n_tokens / n_nodes));
  return cuts;
}

// Branches that all decode, in rounds: a round's beginning and end are not timed.
class DecodeRounds {
 public:
  static constexpr int kSteps = 512;  // timed ones of a round

  DecodeRounds(std::unique_ptr<Context> context, int n_branches,
               std::shared_ptr<const Tokens> document, std::vector<int> cuts)
      : rig_(std::move(context), n_branches),
        n_branches_(n_branches),
        document_(std::move(document)),
        cuts_(std::move(cuts)) {
    // One reads the document, so that it is in the tree for all.
    rig_.submit(document_, cuts_, 1);
    rig_.run_to_end();
  }

  [[nodiscard]] bool round_is_over() const { return n_left_ == 0; }
  void begin_round() {
    rig_.run_to_end();
    const int n_first = rig_.sink->n_first + n_branches_;
    for (int i = 0; i < n_branches_; ++i) rig_.submit(document_, cuts_, kSteps + 2);
    while (rig_.sink->n_first < n_first) rig_.core.step();
    n_left_ = kSteps;
  }
  void step() {
    rig_.core.step();
    --n_left_;
  }
  [[nodiscard]] const EngineCounters& counters() const { return rig_.core.stats().counters; }

 private:
  CoreRig rig_;
  int n_branches_, n_left_ = 0;
  std::shared_ptr<const Tokens> document_;
  std::vector<int> cuts_;
};

void decode(benchmark::State& state, DecodeRounds& rounds, int n_branches) {
  std::uint64_t n_rows = 0;
  for (auto _ : state) {
    if (rounds.round_is_over()) {
      state.PauseTiming();
      rounds.begin_round();
      n_rows = rounds.counters().n_decode_rows;
      state.ResumeTiming();
    }
    rounds.step();
    n_rows += static_cast<std::uint64_t>(n_branches);
  }
  if (rounds.counters().n_decode_rows != n_rows) {
    state.SkipWithError("a step was not a row for each branch");
  }
  report_per_item(state, "s_per_row", n_branches);
}

// Bounds our own part of a decode step: N branches below one document, a context that costs
// nothing, a sampler that costs nothing. Linear in N; must not depend on the document or its nodes.
void decode_step_ours(benchmark::State& state) {
  const auto n_branches = static_cast<int>(state.range(0));
  const auto n_nodes = static_cast<int>(state.range(1));
  const int n_tokens = n_nodes * kPerNode;
  DecodeRounds rounds(std::make_unique<QuietContext>(kPlenty, n_branches + 1, kTreeBatch),
                      n_branches, std::make_shared<const Tokens>(some_tokens(n_tokens)),
                      cuts_every(n_tokens, n_nodes));
  decode(state, rounds, n_branches);
}
BENCHMARK(decode_step_ours)
    ->ArgNames({"branches", "nodes"})
    ->Args({1, 1})
    ->Args({16, 1})
    ->Args({64, 1})
    ->Args({256, 1})
    ->Args({256, 10'000})
    ->Unit(benchmark::kMicrosecond);

// The same on the fake engine, which adds its own checks, its log and its arithmetic: what a step
// of a test costs. No document, because a document needs the 256th sequence itself.
void decode_step_fake(benchmark::State& state) {
  const auto n_branches = static_cast<int>(state.range(0));
  const int n_cells = n_branches * (DecodeRounds::kSteps + 128);
  DecodeRounds rounds(fake_context(n_cells), n_branches, nullptr, {});
  decode(state, rounds, n_branches);
}
BENCHMARK(decode_step_fake)->ArgName("branches")->Arg(256)->Unit(benchmark::kMicrosecond);

// Bounds our own part of reading a document of 10^5 tokens with fork points in it, while 1 or more
// branches wait for it: all steps from submit to the last branch's only token. The number of
// forwards is what a model pays for; 196 would be enough for 512 tokens each.
void prefill_step_ours(benchmark::State& state) {
  constexpr int kTokens = 100'000, kBatch = 512;
  const auto n_branches = static_cast<int>(state.range(0));
  const auto cuts = cuts_every(kTokens, static_cast<int>(state.range(1)));
  const auto document = std::make_shared<const Tokens>(some_tokens(kTokens));
  std::optional<CoreRig> rig;
  for (auto _ : state) {
    state.PauseTiming();
    rig.emplace(std::make_unique<QuietContext>(kPlenty, n_branches + 1, kBatch), n_branches);
    for (int i = 0; i < n_branches; ++i) rig->submit(document, cuts, 1);
    state.ResumeTiming();
    rig->run_to_end();
  }
  report_per_item(state, "s_per_token", kTokens);
  state.counters["n_forwards"] = static_cast<double>(rig->core.stats().counters.n_forwards);
}
BENCHMARK(prefill_step_ours)
    ->ArgNames({"branches", "nodes"})
    ->Args({1, 1})
    ->Args({1, 1'000})
    ->Args({1, 10'000})
    ->Args({64, 1})
    ->Args({64, 1'000})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace swarmkv::internal
