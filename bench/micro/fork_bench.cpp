// A branch's beginning and end: an id, a fork of its base's path, and all of it given back.
#include "micro/counters.h"
#include "micro/tree_rig.h"

namespace swarmkv::internal {
namespace {

bool fork_and_release(TreeRig& rig, PrefixNode* node) {
  const SeqId seq = rig.seqs.acquire();
  const bool forked = rig.tree.fork(node, seq);
  rig.context->release(seq);
  rig.seqs.give_back(seq);
  return forked;
}

// Bounds what the fake engine adds to a test: it marks every cell of the prefix with its owner, as
// llama.cpp does, and sums it up again, which llama.cpp does not.
void fork_fake(benchmark::State& state) {
  const auto n_cells = static_cast<int>(state.range(0));
  TreeRig rig(fake_context(n_cells));
  PrefixNode* node = rig.add_chain(rig.tree.root(), some_tokens(n_cells), n_cells);
  for (auto _ : state) {
    if (!fork_and_release(rig, node)) return state.SkipWithError("cannot fork");
  }
  report_per_item(state, "s_per_cell", n_cells);
}
BENCHMARK(fork_fake)->Arg(1'000)->Arg(100'000);

// Bounds our own share of a fork: an id is taken, and the path's sequence is looked for from the
// node down. The first node of a chain is furthest from it.
void fork_ours(benchmark::State& state) {
  constexpr int kPerNode = 10;
  const auto n_nodes = static_cast<int>(state.range(0));
  TreeRig rig(quiet_context(n_nodes * kPerNode));
  rig.add_chain(rig.tree.root(), some_tokens(n_nodes * kPerNode), kPerNode);
  PrefixNode* first = rig.tree.root()->children.begin()->second.get();
  for (auto _ : state) {
    if (!fork_and_release(rig, first)) return state.SkipWithError("cannot fork");
  }
  report_per_item(state, "s_per_node", n_nodes);
}
BENCHMARK(fork_ours)->Arg(1)->Arg(100)->Arg(10'000);

}  // namespace
}  // namespace swarmkv::internal
