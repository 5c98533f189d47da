#include "engine/fake/fake_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/fake/fake_sampler.h"
#include "engine/fake/fake_vocab.h"

namespace swarmkv::internal {
namespace {

template <typename... Args>
[[noreturn]] void invalid(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

const ContextOptions& checked(const ContextOptions& o) {
  if (o.n_cells < 1) invalid("[engine.make_context] n_cells must be >= 1: got {}", o.n_cells);
  if (o.n_seq_max < 1 || o.n_seq_max > kFakeMaxSeqs) {
    invalid("[engine.make_context] n_seq_max must be in [1, {}]: got {}", kFakeMaxSeqs,
            o.n_seq_max);
  }
  if (o.n_batch < 1) invalid("[engine.make_context] n_batch must be >= 1: got {}", o.n_batch);
  const bool quantised_v = o.type_v >= KvType::kQ8_0;
  if (quantised_v && o.flash_attention == FlashAttention::kOff) {
    throw Error(ErrorCode::kUnsupported,
                "[engine.make_context] a quantised V cache needs flash attention, which is off");
  }
  return o;
}

}  // namespace

FakeContext::FakeContext(std::shared_ptr<const FakeOptions> model,
                         std::shared_ptr<FakeFaults> faults, const ContextOptions& options,
                         std::uint64_t kv_bytes_per_cell, FakeLog log)
    : model_(std::move(model)),
      faults_(std::move(faults)),
      options_(checked(options)),
      kv_bytes_per_cell_(kv_bytes_per_cell),
      keeps_log_(log),
      cells_(options.n_cells, options.n_seq_max, model_->fork_kind, model_->n_swa) {}

BatchLimits FakeContext::batch_limits() const {
  const bool recurrent = model_->fork_kind == ForkKind::kRecurrent;
  return {options_.n_batch, recurrent, recurrent && !model_->hybrid};
}

ForwardStatus FakeContext::forward(const Batch& batch) {
  check_batch(batch);
  rows_.clear();
  logits_.clear();
  const int k = ++n_forwards_;
  const FakeFaults::Plan plan = faults_->plan();
  if (plan.hook) plan.hook(k, batch);
  if (wait_or_abort(plan.token_delay * static_cast<int>(batch.size()))) {
    spoil_touched(batch);
    return ForwardStatus::kAborted;
  }
  const FakeFaults::Outcome outcome = faults_->outcome(k);
  if (outcome.thrower) outcome.thrower();
  if (outcome.status) {
    if (*outcome.status == ForwardStatus::kAborted) spoil_touched(batch);
    const auto keep = std::min(static_cast<std::size_t>(outcome.keep), batch.size());
    if (cells_.has_room(static_cast<int>(keep))) apply(batch, keep, plan);
    rows_.clear();
    return *outcome.status;
  }
  if (!cells_.has_room(static_cast<int>(batch.size()))) return ForwardStatus::kNoSlot;
  apply(batch, batch.size(), plan);
  verify(plan);
  n_tokens_ += static_cast<std::int64_t>(batch.size());
  if (keeps_log_ == FakeLog::kNone) return ForwardStatus::kOk;
  const std::lock_guard lock(log_m_);
  for (const BatchToken& t : batch) log_.push_back({k, t.token, t.pos, t.seq});
  return ForwardStatus::kOk;
}

void FakeContext::apply(const Batch& batch, std::size_t n, const FakeFaults::Plan& plan) {
  for (std::size_t i = 0; i < n; ++i) {
    const BatchToken& t = batch[i];
    cells_.append(t.seq, t.token);
    if (!t.logits) continue;
    Row row{cells_.view(t.seq), std::nullopt};
    if (!model_->forced.empty())
      row.forced = fake_forced_token(model_->forced, cells_.tokens(t.seq));
    rows_.emplace(static_cast<int>(i), std::move(row));
  }
  if (plan.drop_outside_window && model_->fork_kind == ForkKind::kWindow) {
    for (std::size_t i = 0; i < n; ++i) cells_.drop_outside_window(batch[i].seq);
  }
  note_use();
}

// An aborted recurrent forward has advanced the states in place; nobody can take that back.
void FakeContext::spoil_touched(const Batch& batch) {
  if (model_->fork_kind != ForkKind::kRecurrent) return;
  for (const BatchToken& t : batch) {
    cells_.append(t.seq, t.token);
    cells_.spoil(t.seq);
  }
  note_use();
}

void FakeContext::verify(const FakeFaults::Plan& plan) const {
  if (!plan.verify) return;
  const std::string fault = cells_.fault();
  if (!fault.empty()) throw Error(ErrorCode::kInternal, "[fake.forward] " + fault);
}

void FakeContext::note_use() {
  n_used_ = cells_.n_used();
  n_peak_ = std::max(n_peak_.load(), n_used_.load());
}

bool FakeContext::wait_or_abort(std::chrono::microseconds time) {
  std::unique_lock lock(abort_m_);
  if (time.count() > 0) abort_cv_.wait_for(lock, time, [this] { return abort_; });
  return std::exchange(abort_, false);
}

void FakeContext::abort() {
  {
    const std::lock_guard lock(abort_m_);
    abort_ = true;
  }
  abort_cv_.notify_all();
}

const FakeContext::Row& FakeContext::row(int batch_index, const char* operation) const {
  const auto found = rows_.find(batch_index);
  if (found != rows_.end()) return found->second;
  invalid("[engine.{}] no logits at batch index {}: the last forward has {} rows", operation,
          batch_index, rows_.size());
}

void FakeContext::sample(std::span<SampleRow> rows) {
  if (const auto thrower = faults_->sample_thrower(++n_samples_)) thrower();
  for (SampleRow& r : rows) {
    const Row& from = row(r.batch_index, "sample");
    auto* sampler = dynamic_cast<FakeSampler*>(r.sampler);
    if (!sampler)
      invalid("[engine.sample] batch index {}: not a sampler of this engine", r.batch_index);
    r.token = sampler->draw(from.view.hash, from.view.tail, from.forced, model_->eog_every);
  }
}

std::span<const float> FakeContext::logits(int batch_index) const {
  const Row& from = row(batch_index, "logits");
  std::vector<float>& values = logits_[batch_index];
  if (!values.empty()) return values;
  for (int t = 0; t < kFakeVocabSize; ++t) {
    const std::uint64_t r = fake_mix(from.view.hash ^ fake_mix(static_cast<std::uint64_t>(t)));
    values.push_back(static_cast<float>(r % 4096) / 4096.0F);
  }
  const Token best = from.forced
                         ? *from.forced
                         : fake_next_token(from.view.hash, from.view.tail, model_->eog_every);
  values[static_cast<std::size_t>(best)] = 8.0F;
  return values;
}

}  // namespace swarmkv::internal
