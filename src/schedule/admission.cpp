// Who may start: reserve cells and a sequence, pin the shared prefix.
#include <algorithm>
#include <cassert>

#include "schedule/core.h"

namespace swarmkv::internal {
namespace {

constexpr int kMaxPassing = 16;       // smaller requests looked at behind a head that does not fit
constexpr int kMaxPassingSteps = 64;  // and for how long they may pass it

}  // namespace

void SchedulerCore::admit() {
  // The step in which nobody may pass the head any more changes what it may take.
  const bool head_may_take_more =
      blocked_head_ != nullptr && n_steps_ - blocked_since_ == kMaxPassingSteps + 1;
  if (!(admission_may_help_ || head_may_take_more) || waiting_.empty()) return;
  admission_may_help_ = false;
  Branch* head = nullptr;
  int n_passed = 0;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (static_cast<int>(admitted_.size()) >= options_.n_parallel) break;
    if (options_.deterministic && !admitted_.empty()) break;
    Branch& branch = **it;
    if (try_admit(branch)) {
      if (blocked_head_ == &branch) blocked_head_ = nullptr;
      it = waiting_.erase(it);
      continue;
    }
    if (head == nullptr) {
      head = &branch;
      if (blocked_head_ != head) blocked_since_ = n_steps_;
      blocked_head_ = head;
    }
    if (may_not_be_passed(*head) || ++n_passed >= kMaxPassing) break;
    ++it;
  }
}

bool SchedulerCore::may_not_be_passed(const Branch& branch) const {
  return blocked_head_ == &branch && n_steps_ - blocked_since_ > kMaxPassingSteps;
}

bool SchedulerCore::try_admit(Branch& branch) {
  Spot spot = find_spot(branch);
  if (!offers_.empty()) {
    restore_for(branch, spot);
    spot = find_spot(branch);  // even if nothing came of it, room was made
  }
  if (try_admit_at(branch, spot, branch.request.fork_points)) return true;
  // With nothing running the last resort is to start over: it needs one holder and every other
  // prefix may go.
  return admitted_.empty() && try_admit_at(branch, Spot{tree_.root(), 0, nullptr, false}, {});
}

// With nothing running everything may go, and for a head that nobody may pass any more: whoever
// wants the rest comes after it. Kept conversations must not shut out everybody else either: they
// hold sequence ids and cells, and those that continue them may come late.
Sparing SchedulerCore::sparing_for_admission(const Branch& branch) const {
  if (admitted_.empty() || may_not_be_passed(branch)) return Sparing::kNothing;
  const bool is_half_empty = static_cast<int>(admitted_.size()) < (options_.n_parallel + 1) / 2;
  return is_half_empty ? Sparing::kWanted : Sparing::kWantedAndKept;
}

bool SchedulerCore::try_admit_at(Branch& branch, const Spot& spot, std::vector<int> cuts) {
  const int base_end = std::max(spot.n, branch.n_shareable());
  const int n_new_prefix = base_end - spot.n;
  cuts.push_back(base_end);
  cuts.erase(std::remove_if(cuts.begin(), cuts.end(),
                            [&](int cut) { return cut <= spot.n || cut > base_end; }),
             cuts.end());

  const int n_full = branch.n_full(base_end);
  const bool wants_all = admitted_.empty() || branch.result.n_preemptions >= 2;
  const int n_tail = wants_all ? n_full : branch.n_first(base_end);

  // A split changes no cell; done first, so that what lies behind the point can be evicted.
  PrefixNode* at = spot.node;
  if (spot.tail_of == nullptr && spot.n > 0) at = tree_.split(at, spot.n);
  const int n_holders = spot.tail_of != nullptr ? 1 : tree_.n_holders_for(at, cuts.size());
  tree_.pin(at);  // must survive the evictions that make room
  if (!make_room(n_new_prefix + n_tail, 1 + n_holders, sparing_for_admission(branch))) {
    tree_.unpin(at);
    return false;
  }
  PrefixNode* base = spot.tail_of != nullptr ? share_tail(*spot.tail_of, spot.n) : at;
  const PromptView prompt(branch.request);
  for (const int cut : cuts) {
    if (cut > base->end()) base = tree_.extend(base, prompt.copy(base->end(), cut));
  }
  tree_.pin(base);
  tree_.unpin(at);
  // Other prefixes would stand between this one's cells and its tail.
  while (options_.deterministic && evict(Sparing::kNothing)) {
  }

  const bool reserved = cells_.try_reserve(n_tail);
  assert(reserved);
  (void)reserved;
  branch.base = base;
  branch.unready.clear();
  branch.seq = seqs_.acquire();
  branch.n_reserved = n_tail;
  branch.admit_order = ++n_admitted_ever_;
  branch.state = RequestState::kPrefilling;
  branch.result.fork_fell_back |= spot.fell_back;
  admitted_.insert(&branch);
  if (!branch.result.admitted) {
    branch.result.admitted = now_();
    branch.sink->admitted(*branch.result.admitted);
  }
  // What is there already was not computed by the next forward.
  const PrefixNode* missing = next_unready(branch);
  if (missing != nullptr && missing->n_computed > 0) report_progress_of(branch, std::nullopt);
  return true;
}

}  // namespace swarmkv::internal
