// How a branch leaves: for good, or back to waiting.
#include "schedule/core.h"

namespace swarmkv::internal {

void SchedulerCore::leave_cache(Branch& branch) {
  if (branch.base == nullptr) return;
  if (branch.forked) context_.release(branch.seq);
  if (branch.seq != kNoSeq) seqs_.give_back(branch.seq);
  cells_.give_back(branch.n_reserved);
  tree_.unpin(branch.base);
  admitted_.erase(&branch);
  branch.base = nullptr;
  branch.unready.clear();
  branch.seq = kNoSeq;
  branch.forked = false;
  branch.n_past = branch.n_reserved = 0;
  admission_may_help_ = true;
}

// What the branch computed becomes a node of the tree, from which those who continue it fork.
void SchedulerCore::leave_behind(Branch& branch) {
  if (!branch.forked || branch.n_private() == 0) return;
  Tokens span;
  for (int i = branch.base->end(); i < branch.n_past; ++i) span.push_back(branch.token_at(i));
  branch.n_reserved -= static_cast<int>(span.size());
  tree_.keep(tree_.adopt(branch.base, std::move(span), branch.n_past, branch.seq), branch.id);
  branch.seq = kNoSeq;
  branch.forked = false;
}

void SchedulerCore::let_go(std::uint64_t id) {
  if (const auto it = branches_.find(id); it != branches_.end()) it->second->keep = false;
  tree_.let_go(id);
  admission_may_help_ = true;
}

void SchedulerCore::finish(Branch& branch, RequestState state, FinishReason reason, ErrorCode code,
                           const std::string& error) {
  branch.result.n_cache_tokens = branch.n_past;
  if (state == RequestState::kFinished && branch.keep) leave_behind(branch);
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
