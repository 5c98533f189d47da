// Ends and failures: what leaves the cache, who hears of it, and how the loop goes on.
#include <algorithm>
#include <cassert>
#include <exception>

#include "schedule/core.h"

namespace swarmkv::internal {
namespace {

constexpr int kMostFatalInARow = 3;

}  // namespace

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

void SchedulerCore::recover(ForwardStatus status, const std::string& error) {
  admission_may_help_ = true;
  switch (status) {
    case ForwardStatus::kOk:
      return;
    case ForwardStatus::kNoSlot:
      repair_parts();
      no_slot();
      break;
    case ForwardStatus::kAborted:
      repair_parts();
      break;
    case ForwardStatus::kBadBatch:
      fail_parts(ErrorCode::kInternal, "[schedule.forward] the engine refused the batch: " + error);
      break;
    case ForwardStatus::kFatal:
      if (++n_fatal_in_a_row_ >= kMostFatalInARow) {
        return give_up_context("[schedule.forward] the engine failed " +
                               std::to_string(n_fatal_in_a_row_) + " times in a row: " + error);
      }
      fail_parts(ErrorCode::kEngineFailed, "[schedule.forward] the engine failed: " + error);
      break;
  }
  if (!stats_.engine_failed && !books_match_cache()) start_over();
}

// Our books said there was room. Whatever the reason, each round asks for less until one branch is
// left.
void SchedulerCore::no_slot() {
  if (n_budget_ > 1 && batch_.size() > 1) {
    n_budget_ = std::max(1, static_cast<int>(batch_.size()) / 2);
    tree_.evict_one(true);
    return;
  }
  if (tree_.evict_one(true)) return;
  Branch* victim = lowest_ranked(oldest());
  if (victim != nullptr) {
    preempt(*victim, true);
  } else if (Branch* last = oldest()) {
    fail(*last, ErrorCode::kKvCacheFull,
         "[schedule.forward] no free cell for '" + last->request.label +
             "': " + std::to_string(stats_.used_cells) + " of " + std::to_string(cells_.n_cells()) +
             " used");
  }
}

void SchedulerCore::repair_parts() {
  for (const Part& part : parts_) {
    if (part.node != nullptr) {
      tree_.repair(part.node);
      continue;
    }
    Branch& branch = *part.branch;
    if (admitted_.count(&branch) == 0) continue;
    const Pos length = context_.length(branch.seq);
    if (length == branch.n_past) continue;
    if (length > branch.n_past && context_.truncate(branch.seq, branch.n_past)) continue;
    preempt(branch, false);  // cannot be cut back: fork again
  }
}

// Everybody who waited for these rows gets the error: branches that had rows, and those based on a
// chunk.
void SchedulerCore::fail_parts(ErrorCode code, const std::string& error) {
  std::vector<std::uint64_t> failed;
  for (const Branch* branch : admitted_) {
    const bool touched = std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
      if (part.branch != nullptr) return part.branch == branch;
      for (PrefixNode* n = branch->base; n != nullptr; n = n->parent) {
        if (n == part.node) return !branch->forked;
      }
      return false;
    });
    if (touched) failed.push_back(branch->id);
  }
  try {
    repair_parts();
  } catch (const std::exception& e) {
    give_up_context(error + "; and its cache could not be repaired: " + e.what());
    return;
  }
  for (const std::uint64_t id : failed) {
    if (branches_.count(id) != 0) fail(*branches_.at(id), code, error);
  }
}

// A failed forward may cost more than its own rows: some caches have to drop everything.
bool SchedulerCore::books_match_cache() const {
  return tree_.matches_cache() &&
         std::all_of(admitted_.begin(), admitted_.end(), [&](const Branch* branch) {
           return context_.length(branch->seq) == (branch->forked ? branch->n_past : 0);
         });
}

// Everything in the cache can be computed again; nobody loses more than time.
void SchedulerCore::start_over() {
  const std::vector<Branch*> all(admitted_.begin(), admitted_.end());
  for (Branch* branch : all) {
    branch->forked = false;  // its cells go with the rest
    preempt(*branch, false);
  }
  tree_.forget_all();
  context_.clear();
}

void SchedulerCore::give_up_context(const std::string& error) {
  stats_.engine_failed = true;
  // The cache's content is void; our books are emptied first so that nothing refers to it.
  std::vector<Branch*> all;
  for (const auto& [id, branch] : branches_) all.push_back(branch.get());
  for (Branch* branch : all) {
    branch->forked = false;  // nothing to release one by one
    fail(*branch, ErrorCode::kEngineFailed, error);
  }
  tree_.forget_all();
  try {
    context_.clear();
  } catch (...) {
    // Nothing more can be done with it; every later request is refused.
  }
}

// Somebody is admitted, yet nothing can be computed: sequence ids are short, as when a split gave a
// recurrent node a second half. The last one starts over with everything for itself.
void SchedulerCore::break_stall() {
  admission_may_help_ = true;
  if (tree_.evict_one(true)) return;
  Branch* victim = lowest_ranked(oldest());
  if (victim == nullptr) victim = oldest();
  if (++n_stalls_in_a_row_ > static_cast<int>(branches_.size()) + 2) {
    fail(*victim, ErrorCode::kInternal,
         "[schedule.step] no progress for '" + victim->request.label +
             "': " + std::to_string(seqs_.n_free()) + " of " + std::to_string(seqs_.n_ids()) +
             " sequence ids free");
    return;
  }
  preempt(*victim, false);
}

}  // namespace swarmkv::internal
