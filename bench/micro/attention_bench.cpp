// The grouped attention kernel on one layer of the demo's model: agents that share a document.
#include <random>
#include <vector>

#include "attention/grouped.h"
#include "attention/half.h"
#include "attention/layout.h"
#include "micro/counters.h"

namespace swarmkv::internal {
namespace {

constexpr int kHead = 64, kHeads = 9, kKvHeads = 3;
constexpr int kDocument = 3500;
constexpr int kOwn = 24;  ///< cells of each agent, one after another in the pool

struct Layer {
  explicit Layer(int n_agents)
      : shape{kHead, kHeads, kKvHeads, n_agents, kDocument + kOwn * n_agents, 0.125F},
        q(static_cast<std::size_t>(n_agents) * kHeads * kHead),
        out(q.size()),
        k(static_cast<std::size_t>(shape.n_cells) * kKvHeads * kHead),
        v(k.size()),
        mask(static_cast<std::size_t>(n_agents) * shape.n_cells, kHalfMinusInfinity) {
    std::minstd_rand random(1);
    std::uniform_real_distribution<float> even(-1.0F, 1.0F);
    for (float& x : q) x = even(random);
    for (auto& x : k) x = float_to_half(even(random));
    for (auto& x : v) x = float_to_half(even(random));
    for (int agent = 0; agent < n_agents; ++agent) {
      const auto row = mask.begin() + static_cast<std::ptrdiff_t>(agent) * shape.n_cells;
      std::fill(row, row + kDocument, std::uint16_t{0});
      for (int i = 0; i < kOwn; ++i) row[kDocument + i * n_agents + agent] = 0;
    }
  }

  [[nodiscard]] AttentionTensors tensors() {
    return packed_tensors(shape, q.data(), k.data(), v.data(), mask.data(), out.data());
  }

  void read(AttentionLayout& layout) {
    const AttentionTensors t = tensors();
    layout.read(t.mask, t.mask_token, shape.n_tokens, shape.n_cells);
  }

  AttentionShape shape;
  std::vector<float> q, out;
  std::vector<std::uint16_t> k, v, mask;
};

// Bounds what attention adds to a decode step, for each layer and on one thread: range(0) agents,
// range(1) = which instruction set, the best one first. From some agents on its time should grow
// with their number: then it is arithmetic and no longer the reading of the document.
void attention_decode(benchmark::State& state) {
  const std::vector<std::string> targets = grouped_attention_targets();
  const auto which = static_cast<std::size_t>(state.range(1));
  if (which >= targets.size()) return state.SkipWithError("this processor has fewer");
  Layer layer(static_cast<int>(state.range(0)));
  AttentionLayout layout;
  layer.read(layout);
  GroupedAttention attention(targets[which]);
  for (auto _ : state) {
    attention.prepare(layer.shape, layer.tensors(), layout, 1);
    for (int phase = 0; phase < attention.n_phases(); ++phase) attention.run(phase, 0);
    benchmark::DoNotOptimize(layer.out.data());
  }
  state.SetLabel(targets[which]);
  report_per_item(
      state, "s_per_score",
      static_cast<double>(kHeads) * (kDocument + kOwn) * static_cast<double>(state.range(0)));
}

// All instruction sets that this processor has.
void agents_and_targets(benchmark::internal::Benchmark* bench) {
  const auto n_targets = static_cast<std::int64_t>(grouped_attention_targets().size());
  for (const std::int64_t n_agents : {1, 8, 50, 100}) {
    for (std::int64_t target = 0; target < n_targets; ++target) bench->Args({n_agents, target});
  }
}
BENCHMARK(attention_decode)->Apply(agents_and_targets)->Unit(benchmark::kMillisecond);

// Bounds what the mask costs in a forward, once for all layers: range(0) agents.
void attention_layout(benchmark::State& state) {
  Layer layer(static_cast<int>(state.range(0)));
  AttentionLayout layout;
  for (auto _ : state) {
    layer.read(layout);
    benchmark::DoNotOptimize(layout.n_places());
  }
  report_per_item(state, "s_per_mask_value",
                  static_cast<double>(layer.shape.n_cells) * static_cast<double>(state.range(0)));
}
BENCHMARK(attention_layout)->Arg(1)->Arg(8)->Arg(50)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace swarmkv::internal
