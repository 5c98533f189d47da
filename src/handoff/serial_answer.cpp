// One request, alone in the place its arm gave it: prefix, own prompt, tokens.
#include <algorithm>
#include <exception>
#include <utility>

#include "base/clock.h"
#include "handoff/serial_loop.h"
#include "schedule/chunks.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
// One request's prefix, as its arm sees it.
class SerialLoop::Work final : public PrefixWork {
 public:
  Work(SerialLoop& loop, Branch& branch, Tokens prefix)
      : loop_(loop), branch_(branch), prefix_(std::move(prefix)) {}
  const Tokens& tokens() const override { return prefix_; }
  void compute(Context& context, SeqId seq) override {
    loop_.compute_prefix(branch_, prefix_, context, seq);
    computed_ = true;
  }
  void ready() override {
    ready_at_ = now();
    branch_.result.prefix_ready = ready_at_;
    const int n = branch_.request.n_prefix();
    if (!computed_ || static_cast<int>(prefix_.size()) < n) {
      branch_.sink->prefix_progress({n, n, std::nullopt, ready_at_});
    }
  }
  [[nodiscard]] TimePoint ready_at() const { return ready_at_; }

 private:
  SerialLoop& loop_;
  Branch& branch_;
  const Tokens prefix_;
  bool computed_ = false;
  TimePoint ready_at_{};
};

FinishReason SerialLoop::answer(Branch& branch) {
  const Arm::Place place = place_for(branch);
  branch.result.handed_over = now();
  // Decoding behind an empty or short cache succeeds and means nothing.
  const Pos length = place.context->length(place.seq);
  const int n_prefix = branch.n_shareable();
  if (length != n_prefix) {
    fail(ErrorCode::kEngineFailed, "'" + branch.request.label + "' begins behind " +
                                       std::to_string(n_prefix) + " tokens, its sequence holds " +
                                       std::to_string(length));
  }
  branch.seq = place.seq;
  branch.n_past = length;
  return generate(branch, *place.context);
}

Arm::Place SerialLoop::place_for(Branch& branch) {
  branch.state = RequestState::kPrefilling;
  const int n_prefix = branch.n_shareable();
  if (n_prefix == 0) {
    branch.result.prefix_ready = now();
    return arm_.begin_empty();
  }
  Work work(*this, branch,
            Tokens(branch.request.prefix->begin(), branch.request.prefix->begin() + n_prefix));
  const Arm::Place place = arm_.begin(work);
  if (arm_.computes_once()) {
    branch.result.n_cached_tokens = n_prefix;
    stats_.counters.fork_s += seconds(work.ready_at(), now());
  }
  note_use(n_prefix);
  return place;
}

// Forwards of at most one cut each: the grid, the planned fork points, the end.
void SerialLoop::compute_prefix(Branch& branch, const Tokens& prefix, Context& context, SeqId seq) {
  const BatchLimits limits = context.batch_limits();
  const int grid = options_.deterministic ? std::min(options_.grid, limits.n_tokens) : 0;
  const int n_prefix = static_cast<int>(prefix.size());
  std::vector<int> cuts = branch.request.fork_points;
  cuts.push_back(n_prefix);
  int n_computed = 0;
  for (const int cut : cuts) {
    const int piece = n_computed, end = std::min(cut, n_prefix);
    while (n_computed < end) {
      const int n = prefix_chunk(n_computed, end, limits.n_tokens, grid);
      Batch batch;
      for (int i = n_computed; i < n_computed + n; ++i) {
        batch.push_back({prefix[static_cast<std::size_t>(i)], i, seq, false});
      }
      const TimePoint began = now();
      forward(context, batch);
      n_computed += n;
      stats_.prompt_tokens_computed += n;
      stats_.document_tokens_computed += n;
      count_prefix(branch.result, piece, n_computed - n, n_computed, began);
      if (arm_.computes_once()) {
        stats_.prefix_tokens_computed += n;
      } else {
        branch.result.n_computed_tokens += n;
      }
      note_use(n_computed);
      branch.sink->prefix_progress({n_computed, branch.request.n_prefix(), began, now()});
    }
  }
}

FinishReason SerialLoop::generate(Branch& branch, Context& context) {
  const BatchLimits limits = context.batch_limits();
  while (branch.n_to_feed() > 0) {
    const bool prefilling = branch.n_past < branch.n_prompt();
    const int n = suffix_chunk(branch.n_to_feed(), limits.n_tokens, options_.deterministic, limits);
    Batch batch;
    for (int i = 0; i < n; ++i) {
      const Pos pos = branch.n_past + i;
      const bool wants_logits = pos + 1 == branch.n_known() && branch.request.max_tokens > 0;
      batch.push_back({branch.token_at(pos), pos, branch.seq, wants_logits});
    }
    forward(context, batch);
    branch.n_past += n;
    if (prefilling) {
      branch.result.n_computed_tokens += n;
      stats_.prompt_tokens_computed += n;
    } else {
      ++stats_.counters.n_decode_rows;
      ++stats_.counters.n_decode_steps;
    }
    note_use(branch.n_past);
    if (!batch.back().logits) continue;
    const Token token = sample(branch, context, n - 1);
    if (const auto end = accept_token(branch, model_, token, now())) return *end;
  }
  return FinishReason::kLength;  // max_tokens = 0: prefilled, and that was all
}

// Returns when the batch is in the cache; whatever else happens ends the request.
void SerialLoop::forward(Context& context, const Batch& batch) {
  check_current();
  {
    const MutexLock lock(mutex_);
    computing_ = &context;
  }
  const TimePoint before = now();
  std::string error;
  const ForwardStatus status = evaluate(context, batch, stats_.counters, error);
  {
    const MutexLock lock(mutex_);
    computing_ = nullptr;
  }
  stats_.counters.forward_s += seconds(before, now());
  switch (status) {
    case ForwardStatus::kOk:
      return;
    case ForwardStatus::kNoSlot:
      fail(ErrorCode::kKvCacheFull, "no free cell for '" + current_->request.label +
                                        "': " + std::to_string(stats_.used_cells) + " of " +
                                        std::to_string(stats_.n_cells) + " used");
    case ForwardStatus::kAborted:
      check_current();  // whoever aborts also says why
      engine_broke_ = true;
      fail(ErrorCode::kEngineFailed, "the forward of '" + current_->request.label +
                                         "' was aborted by nobody who is known here");
    case ForwardStatus::kBadBatch:
      fail(ErrorCode::kInternal, "the engine refused the batch: " + error);
    case ForwardStatus::kFatal:
      break;
  }
  engine_broke_ = true;
  fail(ErrorCode::kEngineFailed, "the engine failed: " + error);
}

Token SerialLoop::sample(Branch& branch, Context& context, int row) {
  const TimePoint before = now();
  SampleRow chosen{row, branch.sampler.get()};
  try {
    context.sample({&chosen, 1});
  } catch (const std::exception& e) {
    chosen.error = e.what();
  } catch (...) {
    chosen.error = "unknown exception";
  }
  stats_.counters.sample_s += seconds(before, now());
  if (!chosen.error.empty()) fail(ErrorCode::kEngineFailed, "[sample] " + chosen.error);
  return chosen.token;
}

}  // namespace swarmkv::internal
