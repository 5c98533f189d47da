// A context that passes every call on: the base of those that watch or break some of them.
#pragma once

#include <memory>
#include <utility>

#include "engine/context.h"

namespace swarmkv::internal {

class ForwardingContext : public Context {
 public:
  explicit ForwardingContext(std::unique_ptr<Context> inner) : inner_(std::move(inner)) {}

  int n_cells() const override { return inner_->n_cells(); }
  int n_seq_max() const override { return inner_->n_seq_max(); }
  BatchLimits batch_limits() const override { return inner_->batch_limits(); }
  ForwardStatus forward(const Batch& batch) override { return inner_->forward(batch); }
  void sample(std::span<SampleRow> rows) override { inner_->sample(rows); }
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
  void load(StateBytes bytes, Pos length, SeqId target) override {
    inner_->load(bytes, length, target);
  }
  StateIdentity identity() override { return inner_->identity(); }
  void clear() override { inner_->clear(); }
  void abort() override { inner_->abort(); }
  void synchronize() override { inner_->synchronize(); }
  std::uint64_t kv_size_bytes() const override { return inner_->kv_size_bytes(); }

 protected:
  Context& inner() { return *inner_; }
  const Context& inner() const { return *inner_; }

 private:
  std::unique_ptr<Context> inner_;
};

}  // namespace swarmkv::internal
