// Who may start: reserve cells and a sequence, find the shared prefix, pin it.
#include <algorithm>
#include <cassert>
#include <limits>

#include "schedule/core.h"

namespace swarmkv::internal {
namespace {

constexpr int kGrowth = 64;           // cells a running branch takes at a time
constexpr int kMaxPassing = 16;       // smaller requests looked at behind a head that does not fit
constexpr int kMaxPassingSteps = 64;  // and for how long they may pass it
constexpr int kMaxWantedLooked = 64;

}  // namespace

void SchedulerCore::admit() {
  if (!admission_may_help_ || waiting_.empty()) return;
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
    if (n_steps_ - blocked_since_ > kMaxPassingSteps || ++n_passed >= kMaxPassing) break;
    ++it;
  }
}

SchedulerCore::Spot SchedulerCore::find_spot(const Branch& branch) {
  const PromptView prompt(branch.request);
  const int limit =
      branch.n_prompt() - 1;  // one token is always evaluated by itself: a cache has no logits
  const int declared = std::min(branch.request.n_prefix(), limit);
  // An accidental match would move the cuts, and with them the arithmetic.
  const int min_gain =
      options_.deterministic ? std::numeric_limits<int>::max() : options_.min_accidental_match;
  std::vector<PrefixNode*> matched;
  const auto match = tree_.match(prompt, limit, declared, min_gain, &matched);
  Spot spot{match.node, match.n, nullptr, match.fell_back};
  if (options_.deterministic) return on_own_cuts(branch, spot);

  for (Branch* other : admitted_) {
    const int from = other->base->end();
    const int n_prefix = other->request.n_prefix();
    if (from < n_prefix || from >= limit) continue;
    if (std::find(matched.begin(), matched.end(), other->base) == matched.end()) continue;
    const auto tail = std::span<const Token>(other->request.suffix)
                          .subspan(static_cast<std::size_t>(from - n_prefix));
    if (tail.size() < 2) continue;
    const int at = from + prompt.common(from, limit, tail.first(tail.size() - 1));
    if (at - std::max(match.n, from) < min_gain || at <= spot.n) continue;
    const bool rewinds = other->forked && other->n_past > at;
    if (rewinds && !context_.can_fork(other->seq, at)) {
      spot.fell_back = true;
      continue;
    }
    spot = {other->base, at, other, match.fell_back};
  }
  return spot;
}

// Deterministic mode shares only what this request would have computed in the same pieces by
// itself: the arithmetic depends on where a prefix was cut, and another document's end is no cut of
// this one.
SchedulerCore::Spot SchedulerCore::on_own_cuts(const Branch& branch, const Spot& spot) {
  const Request& request = branch.request;
  const int declared = std::min(request.n_prefix(), branch.n_prompt() - 1);
  const int grid = std::min(options_.grid, limits_.n_tokens);
  const auto is_cut = [&](int at) {
    return at % grid == 0 || at == declared ||
           std::find(request.fork_points.begin(), request.fork_points.end(), at) !=
               request.fork_points.end();
  };
  // A point inside a node was passed, not reached, by the piece that computed it.
  PrefixNode* node = spot.n == spot.node->end() ? spot.node : spot.node->parent;
  Spot best{tree_.root(), 0, nullptr, spot.fell_back};
  std::vector<PrefixNode*> path;
  for (; node != nullptr && node != tree_.root(); node = node->parent) path.push_back(node);
  for (auto it = path.rbegin(); it != path.rend() && is_cut((*it)->end()); ++it) {
    best.node = *it;
    best.n = (*it)->end();
  }
  return best;
}

bool SchedulerCore::try_admit(Branch& branch) {
  if (try_admit_at(branch, find_spot(branch), branch.request.fork_points)) return true;
  // With nothing running the last resort is to start over: it needs one holder and every other
  // prefix may go.
  return admitted_.empty() && try_admit_at(branch, Spot{tree_.root(), 0, nullptr, false}, {});
}

bool SchedulerCore::try_admit_at(Branch& branch, const Spot& spot, std::vector<int> cuts) {
  const int base_end = std::max(spot.n, std::min(branch.request.n_prefix(), branch.n_prompt() - 1));
  const int n_new_prefix = base_end - spot.n;
  cuts.push_back(base_end);
  cuts.erase(std::remove_if(cuts.begin(), cuts.end(),
                            [&](int cut) { return cut <= spot.n || cut > base_end; }),
             cuts.end());

  const int n_full = branch.n_full(base_end);
  const int n_first = std::min(n_full, branch.n_known() - base_end + kGrowth);
  const bool wants_all = admitted_.empty() || branch.result.n_preemptions >= 2;
  const int n_tail = wants_all ? n_full : n_first;

  // A split changes no cell; done first, so that what lies behind the point can be evicted.
  PrefixNode* at = spot.node;
  if (spot.tail_of == nullptr && spot.n > 0) at = tree_.split(at, spot.n);
  const int n_holders = spot.tail_of != nullptr ? 1 : tree_.n_holders_for(at, cuts.size());
  tree_.pin(at);  // must survive the evictions that make room
  if (!make_room(n_new_prefix + n_tail, 1 + n_holders, admitted_.empty())) {
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
  while (options_.deterministic && tree_.evict_one(true)) {
  }

  const bool reserved = cells_.try_reserve(n_tail);
  assert(reserved);
  (void)reserved;
  branch.base = base;
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
  return true;
}

// The part of a running branch's prompt that another request shares becomes a node of the tree. If
// it is not computed yet, the owner waits for it like everybody else.
PrefixNode* SchedulerCore::share_tail(Branch& owner, int at) {
  PrefixNode* old_base = owner.base;
  const int from = old_base->end();
  Tokens span = PromptView(owner.request).copy(from, at);
  PrefixNode* node = nullptr;
  if (!owner.forked) {
    node = tree_.adopt(old_base, std::move(span), from, kNoSeq);
  } else if (owner.n_past >= at) {
    const SeqId holder = seqs_.acquire();
    context_.fork(owner.seq, holder, at);
    node = tree_.adopt(old_base, std::move(span), at, holder);
  } else {
    node = tree_.adopt(old_base, std::move(span), owner.n_past, owner.seq);
    owner.seq = seqs_.acquire();
    owner.forked = false;
    owner.n_past = 0;
  }
  tree_.pin(node);
  owner.base = node;
  owner.n_reserved -= at - from;
  tree_.unpin(old_base);
  return node;
}

bool SchedulerCore::make_room(int n_cells, int n_seqs, bool also_wanted) {
  const int n_seqs_needed = n_seqs == 0 ? 0 : n_seqs + tree_.n_unstarted();
  const auto lacks_seqs = [&] { return seqs_.n_free() < n_seqs_needed; };
  if (cells_.n_free() >= n_cells && !lacks_seqs()) return true;
  mark_wanted();
  if (cells_.n_free() + tree_.n_cells_evictable(also_wanted) < n_cells) return false;
  while (cells_.n_free() < n_cells || lacks_seqs()) {
    if (!tree_.evict_one(false) && !(also_wanted && tree_.evict_one(true))) break;
  }
  return cells_.n_free() >= n_cells && !lacks_seqs();
}

void SchedulerCore::mark_wanted() {
  tree_.clear_wanted();
  const Tokens* last_prefix = nullptr;
  int n_looked = 0;
  for (const Branch* branch : waiting_) {
    const Tokens* prefix = branch->request.prefix.get();
    if (prefix == nullptr || prefix == last_prefix) continue;
    last_prefix = prefix;
    const int limit = branch->n_prompt() - 1;
    tree_
        .match(PromptView(branch->request), limit, std::min(branch->request.n_prefix(), limit),
               options_.min_accidental_match)
        .node->wanted = true;
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
  while (!make_room(n_missing, 0, true)) {
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
  while (!make_room(n_more, 0, true)) {
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
