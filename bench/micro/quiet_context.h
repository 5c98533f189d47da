// A KV cache that knows nothing but how long each sequence is: what is measured on it is ours
// alone. Unlike the fake engine it forks in no time, keeps no log and has as many sequences as
// asked for.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/context.h"

namespace swarmkv::internal {

/// Every token it samples is the letter a, a token of the fake model.
class QuietContext final : public Context {
 public:
  QuietContext(int n_cells, int n_seqs, int n_batch)
      : n_cells_(n_cells), n_batch_(n_batch), lengths_(static_cast<std::size_t>(n_seqs), 0) {}

  [[nodiscard]] int n_cells() const override { return n_cells_; }
  [[nodiscard]] int n_seq_max() const override { return static_cast<int>(lengths_.size()); }
  [[nodiscard]] BatchLimits batch_limits() const override { return {n_batch_, false, false}; }
  [[nodiscard]] ForwardStatus forward(const Batch& batch) override {
    for (const BatchToken& t : batch) at(t.seq) = t.pos + 1;
    return ForwardStatus::kOk;
  }
  void sample(std::span<SampleRow> rows) override {
    for (SampleRow& row : rows) row.token = 'a';
  }
  [[nodiscard]] std::span<const float> logits(int) const override { return {}; }
  [[nodiscard]] bool can_fork(SeqId source, Pos end) const override {
    return end <= length(source);
  }
  void fork(SeqId, SeqId target, Pos end) override { at(target) = end; }
  void release(SeqId seq) override { at(seq) = 0; }
  [[nodiscard]] bool truncate(SeqId seq, Pos from) override {
    at(seq) = std::min(at(seq), from);
    return true;
  }
  [[nodiscard]] Pos length(SeqId seq) const override {
    return lengths_[static_cast<std::size_t>(seq)];
  }
  [[nodiscard]] std::uint64_t state_size(SeqId, Where) const override { return 0; }
  [[nodiscard]] SequenceState save(SeqId seq, Where where) override {
    SequenceState state;
    state.where = where;
    state.length = length(seq);
    return state;
  }
  void load(const SequenceState& state, SeqId target) override { at(target) = state.length; }
  void load(StateBytes, Pos length, SeqId target) override { at(target) = length; }
  [[nodiscard]] StateIdentity identity() override { return {}; }
  void clear() override { std::fill(lengths_.begin(), lengths_.end(), 0); }
  void abort() override {}
  void synchronize() override {}
  [[nodiscard]] std::uint64_t kv_size_bytes() const override { return 0; }

 private:
  Pos& at(SeqId seq) { return lengths_[static_cast<std::size_t>(seq)]; }

  int n_cells_, n_batch_;
  std::vector<Pos> lengths_;
};

}  // namespace swarmkv::internal
