// Where a request starts: the longest prefix it shares with the tree or with a running branch.
#include <algorithm>
#include <limits>

#include "schedule/core.h"

namespace swarmkv::internal {

SchedulerCore::Spot SchedulerCore::find_spot(const Branch& branch) {
  const PromptView prompt(branch.request);
  const int limit =
      branch.n_prompt() - 1;  // one token is always evaluated by itself: a cache has no logits
  const int declared = branch.n_shareable();
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
  const int declared = branch.n_shareable();
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
  owner.unready.clear();
  owner.n_reserved -= at - from;
  tree_.unpin(old_base);
  return node;
}

}  // namespace swarmkv::internal
