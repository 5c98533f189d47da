// The forward, and what its rows mean for branches and nodes.
#include <algorithm>
#include <exception>

#include "base/clock.h"
#include "schedule/core.h"

namespace swarmkv::internal {
ForwardStatus SchedulerCore::forward(std::string& error) {
  const TimePoint before = now_();
  last_forward_began_ = before;
  // Whatever an engine throws, the loop goes on; the message reaches whoever waited for these rows.
  const ForwardStatus status = evaluate(context_, batch_, stats_.counters, error);
  const double spent = seconds(before, now_());
  stats_.n_evictions = tree_.n_evictions();
  EngineCounters& c = stats_.counters;
  c.forward_s += spent;
  last_forward_ms_ = 1000 * spent;
  if (status != ForwardStatus::kOk) return status;

  std::uint64_t n_decode_rows = 0;
  for (const Part& part : parts_) n_decode_rows += part.branch && part.branch->decoding() ? 1 : 0;
  c.n_decode_rows += n_decode_rows;
  c.n_decode_steps += n_decode_rows > 0 ? 1 : 0;
  if (n_decode_rows == 0 && batch_.size() >= 64 && spent > 0) {
    prefill_tokens_per_s_ = static_cast<double>(batch_.size()) / spent;
  }
  return status;
}

void SchedulerCore::deliver() {
  n_fatal_in_a_row_ = n_stalls_in_a_row_ = 0;
  n_budget_ = limits_.n_tokens;
  std::vector<SampleRow> rows;
  std::vector<Branch*> sampled;
  std::vector<Branch*> prefilled;  // max_tokens = 0: done without a token
  for (const Part& part : parts_) {
    if (part.node != nullptr) {
      count_node(part);
      continue;
    }
    Branch& branch = *part.branch;
    count_branch(part);
    if (part.logits_index >= 0) {
      rows.push_back({part.logits_index, branch.sampler.get()});
      sampled.push_back(&branch);
    } else if (branch.n_to_feed() == 0) {
      prefilled.push_back(&branch);
    }
  }
  count_cells();
  report_progress();
  for (Branch* branch : prefilled) {
    finish(*branch, RequestState::kFinished, FinishReason::kLength, {}, {});
  }
  if (rows.empty()) return;

  const TimePoint before = now_();
  const auto fail_all = [&](const std::string& what) {
    for (Branch* branch : sampled)
      fail(*branch, ErrorCode::kEngineFailed, "[schedule.sample] " + what);
  };
  try {
    context_.sample(rows);
  } catch (const std::exception& e) {
    return fail_all(e.what());
  } catch (...) {
    return fail_all("unknown exception");
  }
  const TimePoint after = now_();
  stats_.counters.sample_s += seconds(before, after);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].error.empty()) {
      accept(*sampled[i], rows[i].token, after);
    } else {
      fail(*sampled[i], ErrorCode::kEngineFailed, "[schedule.sample] " + rows[i].error);
    }
  }
}

void SchedulerCore::count_node(const Part& part) {
  const int from = part.node->n_computed;
  tree_.computed(part.node, part.n);
  part.node->compute_ms += last_forward_ms_ * part.n / static_cast<double>(batch_.size());
  stats_.prompt_tokens_computed += part.n;
  stats_.prefix_tokens_computed += part.n;
  const bool is_document = !part.node->released_early;
  if (is_document) stats_.document_tokens_computed += part.n;
  if (is_document) {
    count_prefix(part.first_in_line->result, part.node->start, from, from + part.n,
                 last_forward_began_);
  } else {
    part.first_in_line->result.n_tail_computed_tokens += part.n;
  }
}

void SchedulerCore::count_branch(const Part& part) {
  Branch& branch = *part.branch;
  const int n_fresh = std::max(0, std::min(branch.n_prompt(), branch.n_past + part.n) -
                                      std::max(branch.n_evaluated, branch.n_past));
  const int n_again = branch.decoding() ? 0 : part.n - n_fresh;  // fed before a preemption
  branch.n_evaluated += n_fresh;
  branch.result.n_computed_tokens += n_fresh;
  branch.result.n_recomputed_tokens += n_again;
  stats_.prompt_tokens_computed += n_fresh;
  stats_.tokens_recomputed += n_again;
  branch.n_past += part.n;
}

void SchedulerCore::count_cells() {
  int n_used = tree_.n_cells_used();
  for (const Branch* branch : admitted_) n_used += branch->n_private();
  stats_.used_cells = n_used;
  stats_.peak_used_cells = std::max(stats_.peak_used_cells, n_used);
  for (Branch* branch : admitted_) {
    branch->result.peak_used_cells = std::max(branch->result.peak_used_cells, n_used);
  }
}

void SchedulerCore::accept(Branch& branch, Token token, TimePoint t) {
  if (const auto end = accept_token(branch, model_, token, t)) {
    finish(branch, RequestState::kFinished, *end, {}, {});
  }
}

void SchedulerCore::report_progress() {
  for (Branch* branch : admitted_) report_progress_of(*branch, last_forward_began_);
}

void SchedulerCore::report_progress_of(Branch& branch, std::optional<TimePoint> began) {
  const int n_total = branch.request.n_prefix();
  if (n_total == 0 || branch.last_progress >= n_total) return;
  const PrefixNode* node = branch.forked ? nullptr : next_unready(branch);
  const int n = std::min(n_total, node != nullptr ? node->n_computed : n_total);
  if (n <= branch.last_progress) return;
  branch.last_progress = n;
  branch.sink->prefix_progress({n, n_total, began, now_()});
}

void SchedulerCore::expire_deadlines() {
  if (deadlines_.empty()) return;
  const TimePoint now = now_();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    Branch& branch = *branches_.at(deadlines_.begin()->second);
    fail(branch, ErrorCode::kTimeout, "[schedule] " + timeout_message(branch));
  }
}

}  // namespace swarmkv::internal
