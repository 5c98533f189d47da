// Changing the tree: cutting nodes where requests part, and giving cells back.
#include <optional>

#include "micro/counters.h"
#include "micro/tree_rig.h"

namespace swarmkv::internal {
namespace {

constexpr int kTokens = 100'000, kNodes = 10'000, kPerNode = kTokens / kNodes;

void split_in_halves(PrefixTree& tree, PrefixNode* node, int n_nodes) {
  if (n_nodes < 2) return;
  PrefixNode* upper = tree.split(node, node->start + n_nodes / 2 * kPerNode);
  split_in_halves(tree, upper, n_nodes / 2);
  split_in_halves(tree, node, n_nodes - n_nodes / 2);
}

template <typename Split>
void split_all(benchmark::State& state, Split split) {
  const Tokens document = some_tokens(kTokens);
  std::optional<TreeRig> rig;
  for (auto _ : state) {
    state.PauseTiming();
    rig.emplace(fake_context(kTokens));
    PrefixNode* node = rig->add_chain(rig->tree.root(), document, kTokens);
    state.ResumeTiming();
    split(rig->tree, node);
    if (rig->tree.n_nodes() != kNodes) return state.SkipWithError("not the nodes that were asked");
  }
  report_per_item(state, "s_per_split", kNodes - 1);
}

// Bounds what admission adds to a match when requests part inside of a document: one node of 10^5
// tokens becomes 10^4 nodes, always the middle first.
void prefix_split_halves(benchmark::State& state) {
  split_all(state, [](PrefixTree& tree, PrefixNode* node) { split_in_halves(tree, node, kNodes); });
}
BENCHMARK(prefix_split_halves)->Unit(benchmark::kMillisecond);

// The worst order: each cut leaves a long rest, which is moved. One split must not cost more than
// reading the node once, as the match before it did.
void prefix_split_front(benchmark::State& state) {
  split_all(state, [](PrefixTree& tree, PrefixNode* node) {
    for (int i = 1; i < kNodes; ++i) tree.split(node, i * kPerNode);
  });
}
BENCHMARK(prefix_split_front)->Unit(benchmark::kMillisecond);

// Bounds making room: every node of a chain is evicted, one by one, as a request that needs most of
// the cache makes it happen within one step. More than linear if one eviction reads the whole tree.
void prefix_evict_chain(benchmark::State& state) {
  const auto n_nodes = static_cast<int>(state.range(0));
  const Tokens document = some_tokens(n_nodes * kPerNode);
  std::optional<TreeRig> rig;
  for (auto _ : state) {
    state.PauseTiming();
    rig.emplace(quiet_context(n_nodes * kPerNode));
    rig->add_chain(rig->tree.root(), document, kPerNode);
    state.ResumeTiming();
    while (rig->tree.evict_one(Sparing::kWantedAndKept)) {
    }
    if (rig->tree.n_nodes() != 0) return state.SkipWithError("a node was not evicted");
  }
  report_per_item(state, "s_per_node", n_nodes);
}
BENCHMARK(prefix_evict_chain)->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

// Bounds the question before it, "could evictions make enough room?": it reads the whole tree.
void prefix_count_evictable(benchmark::State& state) {
  const auto n_nodes = static_cast<int>(state.range(0));
  TreeRig rig(quiet_context(n_nodes * kPerNode));
  rig.add_chain(rig.tree.root(), some_tokens(n_nodes * kPerNode), kPerNode);
  for (auto _ : state) {
    const int n = rig.tree.evictable(Sparing::kWantedAndKept).n_cells;
    if (n != n_nodes * kPerNode) return state.SkipWithError("not all nodes can go");
  }
  report_per_item(state, "s_per_node", n_nodes);
}
BENCHMARK(prefix_count_evictable)->Arg(100)->Arg(10'000);

}  // namespace
}  // namespace swarmkv::internal
