// A forward that failed: what is repaired, who hears of it, and how the loop goes on.
#include <algorithm>
#include <exception>

#include "schedule/core.h"

namespace swarmkv::internal {

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
// left. Not in deterministic mode, whose pieces are fixed.
void SchedulerCore::no_slot() {
  if (!options_.deterministic && n_budget_ > 1 && batch_.size() > 1) {
    n_budget_ = std::max(1, static_cast<int>(batch_.size()) / 2);
    evict(Sparing::kNothing);
    return;
  }
  if (evict(Sparing::kNothing)) return;
  Branch* victim = lowest_ranked(oldest());
  if (victim != nullptr) {
    preempt(*victim, true);
  } else if (Branch* last = oldest()) {
    if (options_.deterministic && last->result.n_preemptions < 2) return preempt(*last, true);
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
  fail_everyone(error);
}

// An engine that failed may throw or worse at any call, so the books are emptied without it.
void SchedulerCore::fail_everyone(const std::string& error) {
  tree_.let_go_of_cache();
  while (!branches_.empty()) {
    Branch& branch = *branches_.begin()->second;
    branch.forked = false;
    fail(branch, ErrorCode::kEngineFailed, error);
  }
  tree_.forget_all();
  count_cells();
}

// Somebody is admitted, yet nothing can be computed: sequence ids are short, as when a split gave a
// recurrent node a second half. The last one starts over with everything for itself.
void SchedulerCore::break_stall() {
  admission_may_help_ = true;
  if (tree_.give_back_spare_holder() || evict(Sparing::kNothing, Need::kSequence)) return;
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
