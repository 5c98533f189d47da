// A context that notes every request's logits on their way to its sampler.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/context.h"

namespace swarmkv::internal {

using LogitsLog = std::map<const Sampler*, std::vector<std::vector<float>>>;

class RecordingContext final : public Context {
 public:
  RecordingContext(std::unique_ptr<Context> inner, std::shared_ptr<LogitsLog> log)
      : inner_(std::move(inner)), log_(std::move(log)) {}

  int n_cells() const override { return inner_->n_cells(); }
  int n_seq_max() const override { return inner_->n_seq_max(); }
  BatchLimits batch_limits() const override { return inner_->batch_limits(); }
  ForwardStatus forward(const Batch& batch) override {
    if (++n_forwards_ == abort_at) inner_->abort();
    batch_ = batch;
    return inner_->forward(batch);
  }
  void sample(std::span<SampleRow> rows) override {
    for (const SampleRow& row : rows) {
      const auto logits = inner_->logits(row.batch_index);
      if (log_) (*log_)[row.sampler].emplace_back(logits.begin(), logits.end());
      const auto index = static_cast<std::size_t>(row.batch_index);
      if (by_position) (*by_position)[batch_[index].pos].assign(logits.begin(), logits.end());
    }
    inner_->sample(rows);
  }
  std::span<const float> logits(int i) const override { return inner_->logits(i); }
  bool can_fork(SeqId source, Pos end) const override { return inner_->can_fork(source, end); }
  void fork(SeqId source, SeqId target, Pos end) override { inner_->fork(source, target, end); }
  void release(SeqId seq) override { inner_->release(seq); }
  bool truncate(SeqId seq, Pos from) override { return inner_->truncate(seq, from); }
  Pos length(SeqId seq) const override { return inner_->length(seq); }
  std::uint64_t state_size(SeqId seq, Where where) const override {
    return inner_->state_size(seq, where);
  }
  SequenceState save(SeqId seq, Where where) override { return inner_->save(seq, where); }
  void load(const SequenceState& state, SeqId target) override { inner_->load(state, target); }
  void clear() override { inner_->clear(); }
  void abort() override { inner_->abort(); }
  void synchronize() override { inner_->synchronize(); }
  std::uint64_t kv_size_bytes() const override { return inner_->kv_size_bytes(); }

  int abort_at = 0;  ///< abort that forward, counted from 1
  std::shared_ptr<std::map<Pos, std::vector<float>>> by_position{};  ///< of sampled rows, if wanted

 private:
  std::unique_ptr<Context> inner_;
  std::shared_ptr<LogitsLog> log_;
  int n_forwards_ = 0;
  Batch batch_;
};

}  // namespace swarmkv::internal
