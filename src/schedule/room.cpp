// Cells and sequence ids: evict what nobody uses, then let somebody step back.
#include <algorithm>
#include <utility>

#include "schedule/core.h"

namespace swarmkv::internal {
namespace {

constexpr int kMaxWantedLooked = 64;    // different prefixes marked
constexpr int kMaxWantedPassed = 1024;  // requests of the queue that are looked at for them

}  // namespace

bool SchedulerCore::make_room(int n_cells, int n_seqs, Sparing sparing) {
  const int n_seqs_needed = n_seqs == 0 ? 0 : n_seqs + tree_.n_unstarted();
  const auto lacks_cells = [&] { return cells_.n_free() < n_cells; };
  const auto lacks_seqs = [&] { return seqs_.n_free() < n_seqs_needed; };
  if (!lacks_cells() && !lacks_seqs()) return true;
  while (lacks_seqs() && tree_.give_back_spare_holder()) {
  }
  // Nothing is taken away in vain.
  mark_wanted();
  const PrefixTree::Evictable evictable = tree_.evictable(sparing);
  if (cells_.n_free() + evictable.n_cells < n_cells) return false;
  if (seqs_.n_free() + evictable.n_seqs < n_seqs_needed) return false;
  while (lacks_seqs() && evict(sparing, Need::kSequence)) {
  }
  while (lacks_cells() && evict(sparing)) {
  }
  return !lacks_cells() && !lacks_seqs();
}

// What somebody may come for goes last.
bool SchedulerCore::evict(Sparing at_least, Need need) {
  if (!wanted_states_.empty()) capture_what_may_go(need);
  for (const Sparing sparing : {Sparing::kWantedAndKept, Sparing::kWanted, Sparing::kNothing}) {
    const bool done =
        need == Need::kSequence ? tree_.evict_for_sequence(sparing) : tree_.evict_one(sparing);
    if (done) return true;
    if (sparing == at_least) break;
  }
  // Where windows were lost the way to an id may lead over several leaves.
  return need == Need::kSequence && evict(at_least, Need::kCells);
}

// Once a step: what changes within it makes little difference, and the queue may be long.
void SchedulerCore::mark_wanted() {
  if (std::exchange(marked_wanted_at_, n_steps_) == n_steps_) return;
  tree_.clear_wanted();
  const Tokens* last_prefix = nullptr;
  int n_looked = 0, n_passed = 0;
  for (const Branch* branch : waiting_) {
    if (++n_passed > kMaxWantedPassed) break;
    const Tokens* prefix = branch->request.prefix.get();
    const bool continues = branch->request.continues();
    if (!continues && (prefix == nullptr || prefix == last_prefix)) continue;
    if (!continues) last_prefix = prefix;
    const int limit = branch->n_prompt() - 1;
    PrefixNode* node = tree_
                           .match(PromptView(branch->request), limit, branch->n_shareable(),
                                  options_.min_accidental_match)
                           .node;
    if (node->wanted == 0) node->wanted = n_passed;
    if (++n_looked == kMaxWantedLooked) break;
  }
}

Branch* SchedulerCore::oldest() const {
  const auto it = std::min_element(
      admitted_.begin(), admitted_.end(),
      [](const Branch* a, const Branch* b) { return a->admit_order < b->admit_order; });
  return it == admitted_.end() ? nullptr : *it;
}

Branch* SchedulerCore::lowest_ranked(const Branch* except) const {
  for (auto it = admitted_.rbegin(); it != admitted_.rend(); ++it) {
    if (*it != except) return *it;
  }
  return nullptr;
}

void SchedulerCore::top_up_oldest() {
  Branch* branch = oldest();
  if (branch == nullptr) return;
  const int n_missing = branch->n_full(branch->base->end()) - branch->n_reserved;
  if (n_missing <= 0) return;
  while (!make_room(n_missing, 0, Sparing::kNothing)) {
    Branch* victim = lowest_ranked(branch);
    if (victim == nullptr) return;
    preempt(*victim, true);
  }
  branch->n_reserved += cells_.try_reserve(n_missing) ? n_missing : 0;
}

// One more cell for a decoding branch. False: it was itself the one to step back.
bool SchedulerCore::grow(Branch& branch) {
  if (branch.n_private() < branch.n_reserved) return true;
  const int n_more = std::min(kGrowth, branch.n_full(branch.base->end()) - branch.n_reserved);
  while (!make_room(n_more, 0, Sparing::kNothing)) {
    Branch* victim = lowest_ranked(oldest());
    if (victim == nullptr || victim == &branch) {
      preempt(branch, true);
      return false;
    }
    preempt(*victim, true);
  }
  branch.n_reserved += cells_.try_reserve(n_more) ? n_more : 0;
  return true;
}

}  // namespace swarmkv::internal
