#include "handoff/serial_loop.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "schedule/chunks.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

constexpr int kMostFatalInARow = 3;  // as the scheduler

TimePoint now() { return std::chrono::steady_clock::now(); }
double seconds(TimePoint from, TimePoint to) {
  return std::chrono::duration<double>(to - from).count();
}

[[noreturn]] void fail(ErrorCode code, const std::string& what) {
  throw Error(code, "[handoff] " + what);
}

std::string timeout_message(const Branch& branch) {
  return "[handoff] '" + branch.request.label + "' ran out of time: limit " +
         std::to_string(branch.request.timeout.count()) + " ms, " +
         std::to_string(branch.n_generated()) + " tokens generated";
}

}  // namespace

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
      branch_.sink->prefix_progress(n, n, ready_at_);
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

SerialLoop::SerialLoop(const Model& model, Arm& arm, SerialOptions options, Inbox& inbox)
    : model_(model), arm_(arm), options_(options), inbox_(inbox), started_(now()) {
  stats_.n_cells = arm.n_cells();
  note_use(0);
}

void SerialLoop::abort() {
  const MutexLock lock(mutex_);
  if (computing_ != nullptr) computing_->abort();
}

void SerialLoop::run() {
  while (true) {
    look_around(waiting_.empty());
    if (stopping_) break;
    if (waiting_.empty()) continue;
    const std::unique_ptr<Branch> branch = std::move(waiting_.front());
    waiting_.pop_front();
    serve(*branch);
  }
  while (!waiting_.empty()) {
    end_waiting(waiting_.front()->id, RequestState::kCancelled, ErrorCode::kCancelled,
                "[handoff] the engine was shut down");
  }
}

void SerialLoop::look_around(bool idle) {
  const TimePoint before = now();
  Inbox::News news = inbox_.take(idle, next_deadline());
  const TimePoint after = now();
  if (idle) stats_.counters.idle_s += seconds(before, after);
  for (auto& branch : news.submitted) waiting_.push_back(std::move(branch));
  for (const std::uint64_t id : news.cancelled) {
    if (current_ != nullptr && current_->id == id) current_cancelled_ = true;
    end_waiting(id, RequestState::kCancelled, ErrorCode::kCancelled, "[handoff] cancelled");
  }
  stopping_ = stopping_ || news.stop;
  for (std::size_t i = 0; i < waiting_.size();) {
    const Branch& branch = *waiting_[i];
    if (stats_.engine_failed) {
      end_waiting(branch.id, RequestState::kFailed, ErrorCode::kEngineFailed,
                  "[handoff] the engine failed earlier");
    } else if (branch.deadline && *branch.deadline <= after) {
      end_waiting(branch.id, RequestState::kFailed, ErrorCode::kTimeout, timeout_message(branch));
    } else {
      ++i;
    }
  }
  for (auto& promise : news.asked) promise.set_value(stats());
}

// Throws what ends the current request.
void SerialLoop::check_current() {
  look_around(false);
  if (stopping_) fail(ErrorCode::kCancelled, "the engine was shut down");
  if (current_cancelled_) fail(ErrorCode::kCancelled, "cancelled");
  if (current_->deadline && *current_->deadline <= now()) {
    throw Error(ErrorCode::kTimeout, timeout_message(*current_));
  }
}

void SerialLoop::end_waiting(std::uint64_t id, RequestState state, ErrorCode code,
                             const std::string& error) {
  const auto it = std::find_if(waiting_.begin(), waiting_.end(),
                               [&](const auto& branch) { return branch->id == id; });
  if (it == waiting_.end()) return;
  const std::unique_ptr<Branch> branch = std::move(*it);
  waiting_.erase(it);
  conclude(*branch, state, FinishReason::kNone, code, error, now());
}

std::optional<TimePoint> SerialLoop::next_deadline() const {
  std::optional<TimePoint> first;
  for (const auto& branch : waiting_) {
    if (branch->deadline && (!first || *branch->deadline < *first)) first = branch->deadline;
  }
  return first;
}

SchedulerStats SerialLoop::stats() const {
  SchedulerStats stats = stats_;
  EngineCounters& t = stats.counters;
  t.n_forks = arm_.n_restores();
  const double known = t.forward_s + t.sample_s + t.fork_s + t.idle_s;
  t.other_s = std::max(0.0, seconds(started_, now()) - known);
  return stats;
}

void SerialLoop::note_use(int n_cells) {
  stats_.used_cells = n_cells;
  stats_.peak_used_cells = std::max(stats_.peak_used_cells, n_cells);
  if (current_ != nullptr) {
    Result& result = current_->result;
    result.peak_used_cells = std::max(result.peak_used_cells, n_cells);
  }
  stats_.peak_kv_bytes = std::max(stats_.peak_kv_bytes, arm_.kv_bytes());
}

void SerialLoop::serve(Branch& branch) {
  current_ = &branch;
  current_cancelled_ = engine_broke_ = false;
  branch.result.admitted = now();
  branch.sink->admitted(*branch.result.admitted);
  RequestState state = RequestState::kFinished;
  FinishReason reason = FinishReason::kNone;
  ErrorCode code{};
  std::string error;
  try {
    check_current();
    reason = answer(branch);
    n_fatal_in_a_row_ = 0;
  } catch (const Error& e) {
    state = e.code() == ErrorCode::kCancelled ? RequestState::kCancelled : RequestState::kFailed;
    code = e.code();
    error = e.what();
  } catch (const std::exception& e) {
    state = RequestState::kFailed;
    code = ErrorCode::kInternal;
    error = std::string("[handoff] internal error: ") + e.what();
  }
  try {
    if (!engine_broke_) arm_.end();
  } catch (...) {
    engine_broke_ = true;
  }
  if (engine_broke_) arm_.lost();
  if (engine_broke_ && ++n_fatal_in_a_row_ >= kMostFatalInARow) stats_.engine_failed = true;
  note_use(0);
  current_ = nullptr;
  conclude(branch, state, reason, code, error, now());
}

FinishReason SerialLoop::answer(Branch& branch) {
  const Arm::Place place = place_for(branch);
  branch.result.handed_over = now();
  // Decoding behind an empty or short cache succeeds and means nothing.
  const Pos length = place.context->length(place.seq);
  const int n_prefix = std::min(branch.request.n_prefix(), branch.n_prompt() - 1);
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
  const int n_prefix = std::min(branch.request.n_prefix(), branch.n_prompt() - 1);
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
    const int end = std::min(cut, n_prefix);
    while (n_computed < end) {
      const int n = prefix_chunk(n_computed, end, limits.n_tokens, grid);
      Batch batch;
      for (int i = n_computed; i < n_computed + n; ++i) {
        batch.push_back({prefix[static_cast<std::size_t>(i)], i, seq, false});
      }
      forward(context, batch);
      n_computed += n;
      stats_.prompt_tokens_computed += n;
      stats_.document_tokens_computed += n;
      branch.result.n_prefix_computed_tokens += n;
      if (arm_.computes_once()) {
        stats_.prefix_tokens_computed += n;
      } else {
        branch.result.n_computed_tokens += n;
      }
      note_use(n_computed);
      branch.sink->prefix_progress(n_computed, branch.request.n_prefix(), now());
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
  ForwardStatus status = ForwardStatus::kFatal;
  std::string error;
  try {
    status = context.forward(batch);
    context.synchronize();
  } catch (const std::exception& e) {
    error = e.what();
  } catch (...) {
    error = "unknown exception";
  }
  {
    const MutexLock lock(mutex_);
    computing_ = nullptr;
  }
  stats_.counters.forward_s += seconds(before, now());
  ++stats_.counters.n_forwards;
  switch (status) {
    case ForwardStatus::kOk:
      stats_.counters.n_forward_tokens += batch.size();
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
  fail(ErrorCode::kEngineFailed,
       "the engine failed: " + (error.empty() ? "the runtime gave no reason" : error));
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
