// Grouped flash attention on the CPU, for many queries over one cache that share most of its cells.
//
// What a row's result depends on: its query, and the keys and values of the cells it sees, in the
// order of the layout. Not: other rows, where in the cache the cells lie, how many threads there
// are. Different processors may differ in the last bits.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attention/attention.h"
#include "attention/blocks.h"
#include "attention/layout.h"

namespace swarmkv::internal {

/// Raised whenever a result's bits or the kernel's speed change: what is kept for later runs and
/// depends on them names it (deterministic snapshots, the race against llama.cpp's kernel).
inline constexpr int kGroupedKernelVersion = 2;

/// One attention call after another, by threads of the caller. prepare() is for one thread; then
/// all threads call run() for phase 0, after a barrier for phase 1, and so on.
class GroupedAttention {
 public:
  /// target: one of grouped_attention_targets(); empty = the first.
  /// errors  kInvalidArgument  it is none of them
  explicit GroupedAttention(std::string_view target = {});

  /// in  layout: of this mask; tensors and layout stay until the last run() has returned
  /// cost  allocates when a call needs more room than any before
  /// errors  std::bad_alloc
  void prepare(const AttentionShape& shape, const AttentionTensors& tensors,
               const AttentionLayout& layout, int n_threads);

  /// Room that this object and a layout take for calls up to these sizes.
  [[nodiscard]] std::uint64_t most_bytes(const AttentionShape& most, int n_threads) const;

  [[nodiscard]] int n_phases() const { return blocks_.n_phases(); }

  /// thread is in [0, n_threads); a phase is complete when all threads that take part have
  /// returned, which may be fewer than were announced.
  void run(int phase, int thread);

 private:
  struct FreeRoom {
    void operator()(float* room) const;
  };

  std::size_t target_;  ///< place in the tables of functions
  AttentionBlocks blocks_;
  AttentionTensors tensors_;
  const AttentionLayout* layout_ = nullptr;
  std::unique_ptr<float, FreeRoom> room_;
  std::size_t n_room_ = 0;
  std::atomic<int> next_[4] = {};  ///< piece of work, for each phase
};

/// The instruction sets the kernel is compiled for and this processor has, the fastest first: for
/// example "AVX3" (AVX-512), "AVX2", "SSE4", "SCALAR" (none).
[[nodiscard]] std::vector<std::string> grouped_attention_targets();

}  // namespace swarmkv::internal
