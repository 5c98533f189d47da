// The layouts of one forward: one for each mask of the runtime's graph, whatever the number of
// layers.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "attention/layout.h"
#include "ggml.h"
#include "llama.h"

namespace swarmkv::internal {

/// Engine thread only.
class AttentionLayouts {
 public:
  /// The cache that nodes read; null: places are in the order of the cells.
  void use_cache(llama_memory_t memory) { memory_ = memory; }

  /// Places are in the order of positions, wherever the cells lie.
  [[nodiscard]] bool knows_positions();

  /// Masks have other numbers from now on.
  void begin_forward() { n_used_ = 0; }

  [[nodiscard]] double seconds_spent() const { return spent_s_; }

  /// Of a flash attention node of the current forward. Valid until begin_forward().
  [[nodiscard]] const AttentionLayout& of(const ggml_tensor* node);

 private:
  struct Entry {
    const ggml_tensor* mask = nullptr;
    AttentionLayout layout;
  };
  llama_memory_t memory_ = nullptr;
  std::deque<Entry> entries_;  // kept for their room; a model has one mask, or two with windows
  std::size_t n_used_ = 0;
  double spent_s_ = 0;
  std::vector<std::int32_t> positions_;
};

}  // namespace swarmkv::internal
