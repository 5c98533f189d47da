// Grouped flash attention on the CPU, for many queries over one cache that share most of its cells.
//
// What a row's result depends on: its query, and the keys and values of the cells it sees, in their
// order. Not: other rows, where in the cache the cells lie, how many threads there are. Different
// processors may differ in the last bits.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "attention/attention.h"
#include "attention/blocks.h"

namespace swarmkv::internal {

/// One attention call after another, by threads of the caller. prepare() is for one thread; then
/// all threads call run() for phase 0, after a barrier for phase 1, and so on.
class GroupedAttention {
 public:
  /// cost  allocates when a call needs more room than any before
  /// errors  std::bad_alloc
  void prepare(const AttentionShape& shape, const AttentionTensors& tensors, int n_threads);

  [[nodiscard]] int n_phases() const { return blocks_.n_phases(); }

  /// thread is in [0, n_threads); a phase is complete when all threads that take part have
  /// returned, which may be fewer than were announced. in  the tensors of prepare() are still there
  void run(int phase, int thread);

 private:
  struct FreeRoom {
    void operator()(float* room) const;
  };

  AttentionBlocks blocks_;
  AttentionTensors tensors_;
  std::unique_ptr<float, FreeRoom> room_;
  std::size_t n_room_ = 0;
  std::atomic<int> next_[4] = {};  ///< piece of work, for each phase
};

/// The instructions the kernel uses here, for example "AVX3" for AVX-512.
[[nodiscard]] std::string grouped_attention_target();

}  // namespace swarmkv::internal
