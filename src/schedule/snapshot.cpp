// Prefixes that come from outside of the cache, and prefixes that are kept outside of it.
#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "schedule/core.h"

namespace swarmkv::internal {
namespace {

// A restore brings a prefix anew, whatever part of it is there already: it has to gain an eighth.
constexpr int kLeastGain = 8;

int size_of(const std::shared_ptr<const Tokens>& tokens) {
  return static_cast<int>(tokens->size());
}

}  // namespace

void SchedulerCore::offer(std::uint64_t id, std::shared_ptr<const StoredPrefix> stored) {
  offers_[id] = std::move(stored);
  admission_may_help_ = true;
}

void SchedulerCore::withdraw(std::uint64_t id) { offers_.erase(id); }

// How many tokens of the branch's declared prefix a state would bring. A state can be cut where the
// model forks anywhere; elsewhere all of it has to be of use.
int SchedulerCore::use_of(const StoredPrefix& stored, const Branch& branch) const {
  const int declared = branch.n_shareable();
  const int n = size_of(stored.tokens);
  const int n_common = PromptView(branch.request).common(0, declared, *stored.tokens);
  if (n_common == n) return n;
  const bool cuts_anywhere = model_.info().fork_kind == ForkKind::kFull;
  return cuts_anywhere && declared > 0 && n_common == declared ? declared : 0;
}

// What a branch that would start at `spot` could start from, the best first. Of two that bring it
// the same the longer one: it was offered because others begin with all of it, and they then share
// these cells. In deterministic mode a state's bits also depend on where it ends.
std::vector<SchedulerCore::Gain> SchedulerCore::gains_of(const Branch& branch,
                                                         const Spot& spot) const {
  std::vector<Gain> gains;
  for (const auto& [id, stored] : offers_) {
    const int use = use_of(*stored, branch);
    if (use <= spot.n || (use - spot.n) * kLeastGain < use) continue;
    gains.push_back({id, use, size_of(stored->tokens)});
  }
  const bool longest_first = !options_.deterministic;
  std::stable_sort(gains.begin(), gains.end(), [longest_first](const Gain& a, const Gain& b) {
    if (a.use != b.use) return a.use > b.use;
    return longest_first ? a.n_stored > b.n_stored : a.n_stored < b.n_stored;
  });
  return gains;
}

// Puts a stored prefix into the tree if the branch, which would start at `spot`, gains by it. The
// node of `spot` may go.
void SchedulerCore::restore_for(const Branch& branch, const Spot& spot) {
  const std::vector<Gain> gains = gains_of(branch, spot);
  if (gains.empty()) return;
  while (options_.deterministic && evict(Sparing::kNothing)) {
  }
  const int base_end = branch.n_shareable();
  const int n_tail = branch.n_first(base_end);
  for (const Gain& gain : gains) {
    // Only if the branch can go on with it at once: else it might be thrown out before it was of
    // use. A shorter one only if it brings as much: what lacks would take the room that is missing.
    if (gain.use < gains.front().use) break;
    const int n_cells = gain.n_stored + base_end - gain.use + n_tail;
    if (!make_room(n_cells, 2, sparing_for_admission(branch))) continue;
    const std::shared_ptr<const StoredPrefix> stored = offers_.at(gain.id);
    if (load(gain.id, *stored)) return;
  }
}

bool SchedulerCore::load(std::uint64_t id, const StoredPrefix& stored) {
  const TimePoint before = now_();
  const SeqId seq = seqs_.acquire();
  std::string error;
  try {
    context_.load(stored.state, size_of(stored.tokens), seq);
  } catch (const std::exception& e) {
    error = e.what();
  } catch (...) {
    error = "[schedule.restore] unknown exception";
  }
  if (!error.empty()) {
    if (context_.length(seq) > 0) context_.release(seq);
    seqs_.give_back(seq);
    const auto told = stored.on_restore;
    offers_.erase(id);  // `stored` may go with it
    if (told) told(0, error);
    return false;
  }
  PrefixNode* node = tree_.add_ready(*stored.tokens, seq);
  // The pieces of its computation are what a request in deterministic mode looks for.
  if (options_.deterministic && model_.info().fork_kind == ForkKind::kFull) {
    for (const int cut : stored.cuts) {
      if (node->start < cut && cut < node->end()) (void)tree_.split(node, cut);
    }
  }
  ++stats_.n_restores;
  if (stored.on_restore) stored.on_restore(1000 * seconds(before, now_()), {});
  return true;
}

void SchedulerCore::want(std::uint64_t id, CaptureRequest request) {
  wanted_states_[id] = std::move(request);
}

void SchedulerCore::settle(std::uint64_t id) {
  const auto found = wanted_states_.extract(id);
  if (!found.empty()) capture(found.mapped());
}

void SchedulerCore::want_no_more(std::uint64_t id) { wanted_states_.erase(id); }

PrefixNode* SchedulerCore::node_of(const Tokens& tokens) {
  const auto n = static_cast<int>(tokens.size());
  const auto match = tree_.match(PromptView(tokens, {}), n, n, std::numeric_limits<int>::max());
  return match.n == n && match.node->n_computed >= n ? match.node : nullptr;
}

// Before anything is thrown out: what is wanted and could be the next to go. For a sequence several
// nodes in a row may go.
void SchedulerCore::capture_what_may_go(Need need) {
  for (auto it = wanted_states_.begin(); it != wanted_states_.end();) {
    const PrefixNode* node = node_of(*it->second.tokens);
    const bool may_go =
        node != nullptr && node->n_pins == 0 && (node->children.empty() || need == Need::kSequence);
    if (may_go) capture(it->second);
    it = may_go ? wanted_states_.erase(it) : std::next(it);
  }
}

void SchedulerCore::capture(const CaptureRequest& wanted) {
  const TimePoint before = now_();
  Captured captured;
  try {
    captured.reason =
        stats_.engine_failed ? "the engine failed" : save_prefix(wanted, captured.state);
  } catch (const std::exception& e) {
    captured = {{}, 0, e.what()};
  }
  captured.ms = 1000 * seconds(before, now_());
  wanted.done(std::move(captured));
}

// What computing all of the path to `node` costs, by the part of it that was computed here.
double SchedulerCore::compute_ms(const PrefixNode& node, int n) {
  double ms = 0;
  int n_measured = 0;
  for (const PrefixNode* at = &node; at->parent != nullptr; at = at->parent) {
    if (at->compute_ms <= 0) continue;
    ms += at->compute_ms;
    n_measured += at->n_computed - at->start;
  }
  return n_measured == 0 ? 0 : ms * n / n_measured;
}

// Empty, and `state` is filled; else the reason why not.
std::string SchedulerCore::save_prefix(const CaptureRequest& request, SequenceState& state) {
  const int n = size_of(request.tokens);
  PrefixNode* node = node_of(*request.tokens);
  if (node == nullptr) return "it is not in the cache any more, or cannot be forked at its end";
  const SeqId source = tree_.source_of(node, n);
  if (source == kNoSeq) return "no sequence holds it any more";
  SeqId seq = source;
  if (context_.length(source) != n) {
    if (!context_.can_fork(source, n)) return "the model cannot be forked at its end";
    seq = seqs_.acquire();
    if (seq == kNoSeq) return "no sequence is free to fork it";
  }
  struct Fork {  // given back whatever happens
    ~Fork() {
      if (seq == kNoSeq) return;
      context.release(seq);
      seqs.give_back(seq);
    }
    Context& context;
    SeqPool& seqs;
    SeqId seq;
  } fork{context_, seqs_, seq == source ? kNoSeq : seq};
  if (seq != source) context_.fork(source, seq, n);
  if (request.refuse) {
    std::string reason =
        request.refuse(context_.state_size(seq, Where::kHost), compute_ms(*node, n));
    if (!reason.empty()) return reason;
  }
  state = context_.save(seq, Where::kHost);
  return {};
}

}  // namespace swarmkv::internal
