#include "handoff/serial_loop.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/clock.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {

void SerialLoop::fail(ErrorCode code, const std::string& what) {
  throw Error(code, "[handoff] " + what);
}

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
  Inbox::News news = inbox_.take(idle);
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
      end_waiting(branch.id, RequestState::kFailed, ErrorCode::kTimeout,
                  "[handoff] " + timeout_message(branch));
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
    fail(ErrorCode::kTimeout, timeout_message(*current_));
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
  } catch (...) {
    state = RequestState::kFailed;
    code = ErrorCode::kInternal;
    error = "[handoff] internal error: unknown exception";
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

}  // namespace swarmkv::internal
