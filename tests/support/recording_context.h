// A context that notes every request's logits on their way to its sampler.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "support/forwarding_context.h"

namespace swarmkv::internal {

using LogitsLog = std::map<const Sampler*, std::vector<std::vector<float>>>;

class RecordingContext final : public ForwardingContext {
 public:
  RecordingContext(std::unique_ptr<Context> inner, std::shared_ptr<LogitsLog> log)
      : ForwardingContext(std::move(inner)), log_(std::move(log)) {}

  ForwardStatus forward(const Batch& batch) override {
    if (++n_forwards_ == abort_at) inner().abort();
    batch_ = batch;
    return inner().forward(batch);
  }
  void sample(std::span<SampleRow> rows) override {
    for (const SampleRow& row : rows) {
      const auto logits = inner().logits(row.batch_index);
      if (log_) (*log_)[row.sampler].emplace_back(logits.begin(), logits.end());
      const auto index = static_cast<std::size_t>(row.batch_index);
      if (by_position) (*by_position)[batch_[index].pos].assign(logits.begin(), logits.end());
    }
    inner().sample(rows);
  }

  int abort_at = 0;  ///< abort that forward, counted from 1
  std::shared_ptr<std::map<Pos, std::vector<float>>> by_position{};  ///< of sampled rows, if wanted

 private:
  std::shared_ptr<LogitsLog> log_;
  int n_forwards_ = 0;
  Batch batch_;
};

}  // namespace swarmkv::internal
