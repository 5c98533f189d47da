// What goes into the next forward where all sequences of it bring the same number of tokens.
#include <algorithm>
#include <iterator>

#include "schedule/core.h"

namespace swarmkv::internal {

// Recurrent and hybrid models: every sequence of a forward brings the same number of tokens, and on
// recurrent ones their ids follow each other. Decoding branches go together, there in runs of
// neighbouring ids; everything else goes alone; turns alternate.
void SchedulerCore::compose_equal_lengths() {
  const std::vector<Branch*> in_order(admitted_.begin(), admitted_.end());
  std::map<SeqId, Branch*> decoding;
  for (Branch* branch : in_order) {
    if (branch->decoding() && grow(*branch)) decoding[branch->seq] = branch;
  }
  for (auto it = decoding.begin(); it != decoding.end();) {  // growing may have preempted others
    it = admitted_.count(it->second) != 0 ? std::next(it) : decoding.erase(it);
  }
  if (!last_was_decode_ && !decoding.empty()) {
    const auto longest_idle = std::min_element(
        decoding.begin(), decoding.end(),
        [](const auto& a, const auto& b) { return a.second->last_step < b.second->last_step; });
    auto it = longest_idle;
    const bool in_a_run = limits_.consecutive_ids;
    if (!in_a_run && static_cast<int>(decoding.size()) <= n_budget_) it = decoding.begin();
    while (in_a_run && it != decoding.begin() && std::prev(it)->first + 1 == it->first) --it;
    for (std::size_t i = 0; i < decoding.size(); ++i) {
      if (static_cast<int>(batch_.size()) == n_budget_) break;
      add_branch_rows(*it->second, 1);
      const SeqId last = it->first;
      if (++it == decoding.end()) it = decoding.begin();
      if (in_a_run && it->first != last + 1) break;
    }
    last_was_decode_ = true;
    return;
  }
  last_was_decode_ = false;
  for (Branch* branch : admitted_) {
    if (branch->decoding() || !branch->forked) continue;
    add_branch_rows(*branch, std::min(branch->n_to_feed(), n_budget_));
    return;
  }
  for (const Job& job : computable_nodes()) {
    if (!start(*job.node)) continue;
    add_node_rows(job, chunk_of(*job.node, n_budget_));
    return;
  }
  if (!decoding.empty()) compose_equal_lengths();
}

}  // namespace swarmkv::internal
