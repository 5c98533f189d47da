#include "engine/llama/attention_threads.h"

#include <new>
#include <vector>

#include "ggml-cpu.h"

namespace swarmkv::internal {

AttentionThreads::AttentionThreads() {
  constexpr std::size_t kGraphSize = 16;
  const ggml_init_params params{
      2 * ggml_graph_overhead_custom(kGraphSize, false) + 16 * (ggml_tensor_overhead() + 64),
      nullptr, false};
  context_.reset(ggml_init(params));
  if (!context_) throw std::bad_alloc();
  ggml_tensor* node = ggml_new_tensor_1d(context_.get(), GGML_TYPE_F32, 1);
  for (int i = 0; i < kMostPhases; ++i) {
    phases_[i] = {this, i};
    // Each takes the one before as its source, which puts them in order.
    node = ggml_custom_4d(context_.get(), GGML_TYPE_F32, 1, 1, 1, 1, &node, 1, run_phase,
                          GGML_N_TASKS_MAX, &phases_[i]);
    if (i != 0 && i != kMostPhases - 1) continue;
    ggml_cgraph*& graph = graphs_[i == 0 ? 0 : 1];
    graph = ggml_new_graph_custom(context_.get(), kGraphSize, false);
    ggml_build_forward_expand(graph, node);
  }
}

ggml_status AttentionThreads::run(GroupedAttention& attention, int n_threads) {
  attention_ = &attention;
  ggml_cgraph* graph = graphs_[attention.n_phases() == 1 ? 0 : 1];
  ggml_cplan plan = ggml_graph_plan(graph, n_threads, nullptr);
  std::vector<std::uint8_t> work(plan.work_size);
  plan.work_data = work.data();
  return ggml_graph_compute(graph, &plan);
}

void AttentionThreads::run_phase(ggml_tensor*, int thread, int, void* phase) {
  const Phase& own = *static_cast<const Phase*>(phase);
  own.owner->attention_->run(own.number, thread);
}

}  // namespace swarmkv::internal
