#include "engine/llama/attention_layouts.h"

#include "base/clock.h"
#include "engine/llama/attention_op.h"
#include "engine/llama/cell_positions.h"

namespace swarmkv::internal {

bool AttentionLayouts::knows_positions() {
  if (memory_ == nullptr) return false;
  read_cell_positions(memory_, 1, positions_);
  return !positions_.empty();
}

const AttentionLayout& AttentionLayouts::of(const ggml_tensor* node) {
  const ggml_tensor* mask = node->src[3];
  for (std::size_t i = 0; i < n_used_; ++i) {
    if (entries_[i].mask == mask) return entries_[i].layout;
  }
  const auto begin = now();
  if (n_used_ == entries_.size()) entries_.emplace_back();
  Entry& entry = entries_[n_used_];
  const AttentionShape shape = attention_shape(node);
  const AttentionTensors tensors = attention_tensors(node);
  positions_.clear();
  if (memory_ != nullptr) read_cell_positions(memory_, shape.n_cells, positions_);
  entry.layout.read(tensors.mask, tensors.mask_token, shape.n_tokens, shape.n_cells, positions_);
  entry.mask = mask;
  ++n_used_;
  spent_s_ += seconds(begin, now());
  return entry.layout;
}

}  // namespace swarmkv::internal
