// How a branch leaves: for good, or back to waiting.
#include "schedule/core.h"

namespace swarmkv::internal {

void SchedulerCore::leave_cache(Branch& branch) {
  if (branch.base == nullptr) return;
  if (branch.forked) context_.release(branch.seq);
  seqs_.give_back(branch.seq);
  cells_.give_back(branch.n_reserved);
  tree_.unpin(branch.base);
  admitted_.erase(&branch);
  branch.base = nullptr;
  branch.seq = kNoSeq;
  branch.forked = false;
  branch.n_past = branch.n_reserved = 0;
  admission_may_help_ = true;
}

void SchedulerCore::finish(Branch& branch, RequestState state, FinishReason reason, ErrorCode code,
                           const std::string& error) {
  leave_cache(branch);
  waiting_.erase(&branch);
  if (blocked_head_ == &branch) blocked_head_ = nullptr;
  admission_may_help_ = true;
  if (branch.deadline) deadlines_.erase({*branch.deadline, branch.id});

  // Parts of a batch in progress may still name this branch: the caller does not look at them
  // again.
  const auto node = branches_.extract(branch.id);
  conclude(*node.mapped(), state, reason, code, error, now_());
}

void SchedulerCore::fail(Branch& branch, ErrorCode code, const std::string& error) {
  finish(branch, RequestState::kFailed, FinishReason::kNone, code, error);
}

void SchedulerCore::cancel(std::uint64_t id, const std::string& why) {
  const auto it = branches_.find(id);
  if (it == branches_.end()) return;
  finish(*it->second, RequestState::kCancelled, FinishReason::kNone, ErrorCode::kCancelled, why);
}

void SchedulerCore::cancel_all(const std::string& why) {
  while (!branches_.empty()) cancel(branches_.begin()->first, why);
}

// Back to waiting: private cells are dropped, what was generated is kept and fed again later.
void SchedulerCore::preempt(Branch& branch, bool counts) {
  leave_cache(branch);
  branch.state = RequestState::kWaiting;
  waiting_.insert(&branch);
  if (!counts) return;
  ++branch.result.n_preemptions;
  ++stats_.n_preemptions;
  branch.sink->preempted();
}

}  // namespace swarmkv::internal
