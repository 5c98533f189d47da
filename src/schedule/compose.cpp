// What goes into the next forward: one token per decoding branch, then suffixes, then document
// chunks.
#include <algorithm>

#include "base/clock.h"
#include "schedule/chunks.h"
#include "schedule/core.h"

namespace swarmkv::internal {
namespace {

constexpr int kTile = 64;  // rows that the attention kernels compute at once, filled or not

}  // namespace

void SchedulerCore::compose() {
  batch_.clear();
  parts_.clear();
  fork_ready_branches();
  if (limits_.equal_lengths || limits_.consecutive_ids) {
    compose_equal_lengths();
  } else {
    compose_rows();
  }
}

// The uppermost node on the way to the branch's base that is not ready, or null. The way is walked
// once, as it may have a node for every token: what was seen not ready is remembered, and where a
// node was cut or started over, it is walked again from there. Nodes above a pinned one stay.
PrefixNode* SchedulerCore::next_unready(Branch& branch) {
  if (branch.base->ready()) return nullptr;
  std::vector<PrefixNode*>& way = branch.unready;
  while (!way.empty() && way.back()->ready()) way.pop_back();
  if (way.empty()) way.push_back(branch.base);
  while (!way.back()->parent->ready()) way.push_back(way.back()->parent);
  return way.back();
}

void SchedulerCore::fork_ready_branches() {
  const TimePoint before = now_();
  bool any = false;
  std::vector<Branch*> stuck;
  for (Branch* branch : admitted_) {
    if (branch->forked || !branch->base->ready()) continue;
    any = true;
    if (!tree_.fork(branch->base, branch->seq)) {
      stuck.push_back(branch);
      continue;
    }
    ++stats_.counters.n_forks;
    branch->forked = true;
    branch->n_past = branch->base->end();
    branch->n_evaluated = std::max(branch->n_evaluated, branch->n_past);
    branch->result.n_cached_tokens = branch->n_past;
    branch->result.handed_over = now_();
    if (!branch->result.prefix_ready) branch->result.prefix_ready = before;
    // A prefix that was there or restored is ready now, not a step later.
    report_progress_of(*branch, std::nullopt);
  }
  // A window model's cells were recycled since they were matched: match again, what is left is
  // found shorter.
  for (Branch* branch : stuck) preempt(*branch, false);
  if (any) stats_.counters.fork_s += seconds(before, now_());
}

void SchedulerCore::add_branch_rows(Branch& branch, int n) {
  Part part{&branch, nullptr, nullptr, n, -1};
  for (int i = 0; i < n; ++i) {
    const Pos pos = branch.n_past + i;
    const bool last = pos + 1 == branch.n_known();
    const bool wants_logits = last && branch.request.max_tokens > 0;
    if (wants_logits) part.logits_index = static_cast<int>(batch_.size());
    batch_.push_back({branch.token_at(pos), pos, branch.seq, wants_logits});
  }
  branch.last_step = n_steps_;
  parts_.push_back(part);
}

void SchedulerCore::add_node_rows(const Job& job, int n) {
  const PrefixNode& node = *job.node;
  for (int i = 0; i < n; ++i) {
    const Pos pos = node.n_computed + i;
    batch_.push_back(
        {node.span[static_cast<std::size_t>(pos - node.start)], pos, node.holder, false});
  }
  parts_.push_back({nullptr, job.node, job.first_in_line, n, -1});
}

void SchedulerCore::compose_rows() {
  // Growing may preempt, so the list is walked before anything refers to it.
  const std::vector<Branch*> in_order(admitted_.begin(), admitted_.end());
  for (Branch* branch : in_order) {
    if (branch->decoding() && branch->n_to_feed() == 1) grow(*branch);
  }
  const auto n_left = [&] { return n_budget_ - static_cast<int>(batch_.size()); };
  for (Branch* branch : admitted_) {
    if (branch->decoding() && n_left() > 0) add_branch_rows(*branch, 1);
  }
  const bool decodes = !batch_.empty();
  for (Branch* branch : admitted_) {
    if (branch->decoding() || !branch->forked || n_left() == 0) continue;
    const int n = suffix_chunk(branch->n_to_feed(), n_left(), options_.deterministic, limits_);
    if (n > 0) add_branch_rows(*branch, n);
  }
  // In deterministic mode a chunk is a property of the document: nothing else shares its forward.
  if (options_.deterministic && !batch_.empty()) return;
  int n_room = n_left();
  if (decodes && prefill_tokens_per_s_ > 0) n_room = std::min(n_room, room_beside_decodes());
  for (const Job& job : computable_nodes()) {
    if (n_room <= 0) break;
    if (!start(*job.node)) continue;
    const int n = chunk_of(*job.node, n_room);
    add_node_rows(job, n);
    n_room -= n;
    if (options_.deterministic) break;
  }
}

// What the decodes may be held up by, in whole tiles together with the rows that are there already.
int SchedulerCore::room_beside_decodes() const {
  const double target_s = std::chrono::duration<double>(options_.decode_stall_target).count();
  const int n_rows = static_cast<int>(batch_.size());
  const int n_wanted = n_rows + static_cast<int>(prefill_tokens_per_s_ * target_s);
  const int n_tiles = std::max(1, (n_wanted + kTile / 2) / kTile);
  const int n_room = n_tiles * kTile - n_rows;
  return n_room < kTile / 2 ? n_room + kTile : n_room;
}

int SchedulerCore::chunk_of(const PrefixNode& node, int n_room) const {
  const int grid = options_.deterministic ? std::min(options_.grid, limits_.n_tokens) : 0;
  return prefix_chunk(node.n_computed, node.end(), n_room, grid);
}

// In the rank order of whoever waits: the first of a path that is not ready is what can be computed
// now.
std::vector<SchedulerCore::Job> SchedulerCore::computable_nodes() {
  std::vector<Job> jobs;
  for (Branch* branch : admitted_) {
    if (branch->forked) continue;
    PrefixNode* node = next_unready(*branch);
    const auto is_same = [node](const Job& job) { return job.node == node; };
    if (node != nullptr && std::none_of(jobs.begin(), jobs.end(), is_same)) {
      jobs.push_back({node, branch});
    }
  }
  return jobs;
}

bool SchedulerCore::start(PrefixNode& node) {
  switch (tree_.prepare_to_compute(&node)) {
    case PrefixTree::Ready::kYes:
      return true;
    case PrefixTree::Ready::kNoSequence:
      return false;
    case PrefixTree::Ready::kCannotFork: {
      const std::vector<Branch*> in_order(admitted_.begin(), admitted_.end());
      for (Branch* branch : in_order) {
        if (!branch->forked && next_unready(*branch) == &node) {
          preempt(*branch, false);
        }
      }
      return false;
    }
  }
  return false;
}

}  // namespace swarmkv::internal
