// Runs the attention kernel on the runtime's own threads. A team of ours beside it would fight for
// the cores: the runtime's workers go on spinning for a while after each part of a graph. These are
// OpenMP's; a llama.cpp built without it starts threads for each part of a graph, for its own parts
// and for ours.
#pragma once

#include <memory>

#include "attention/grouped.h"
#include "ggml.h"

namespace swarmkv::internal {

class AttentionThreads {
 public:
  AttentionThreads();
  AttentionThreads(const AttentionThreads&) = delete;  // the graphs point into it
  AttentionThreads& operator=(const AttentionThreads&) = delete;

  /// All phases of a prepared call, as a graph of custom nodes with the runtime's barrier between
  /// them.
  [[nodiscard]] ggml_status run(GroupedAttention& attention, int n_threads);

 private:
  struct FreeContext {
    void operator()(ggml_context* context) const { ggml_free(context); }
  };
  struct Phase {
    AttentionThreads* owner;
    int number;
  };
  static constexpr int kMostPhases = 4;

  static void run_phase(ggml_tensor* node, int thread, int n_threads, void* phase);

  GroupedAttention* attention_ = nullptr;
  Phase phases_[kMostPhases];
  std::unique_ptr<ggml_context, FreeContext> context_;
  ggml_cgraph* graphs_[2];  ///< of one phase, of all
};

}  // namespace swarmkv::internal
