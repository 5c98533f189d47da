// From raw samples to one row for each arm of each case.
#include <algorithm>
#include <numeric>

#include "measure/spread.h"
#include "swarmkv/bench.h"

namespace swarmkv {
namespace {

bool same_case(const BenchRow& row, const BenchTrial& t) {
  return row.n_document == t.n_document && row.n_agents == t.n_agents && row.n_output == t.n_output;
}

BenchRow& row_of(std::vector<BenchRow>& rows, const BenchTrial& t) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const BenchRow& row) {
    return same_case(row, t) && row.arm == t.arm;
  });
  if (found != rows.end()) return *found;
  // Behind the other arms of its case.
  auto place = std::find_if(rows.rbegin(), rows.rend(),
                            [&](const BenchRow& row) { return same_case(row, t); });
  BenchRow row;
  row.n_document = t.n_document;
  row.n_agents = t.n_agents;
  row.n_output = t.n_output;
  row.arm = t.arm;
  return *rows.insert(place == rows.rend() ? rows.end() : place.base(), std::move(row));
}

using Trials = std::vector<const BenchTrial*>;

template <typename Value>
std::optional<BenchFigure> over(const Trials& trials, Value value) {
  std::vector<double> samples;
  for (const BenchTrial* trial : trials) value(*trial, samples);
  return internal::spread(std::move(samples));
}

void fill(BenchRow& row, const Trials& trials) {
  const auto add_all = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  row.wall_ms = over(trials, [](const BenchTrial& t, auto& out) { out.push_back(t.wall_ms); });
  row.first_token_ms = over(trials, [](const BenchTrial& t, auto& out) {
    for (const BenchAgent& agent : t.agents) {
      if (agent.first_token_ms) out.push_back(*agent.first_token_ms);
    }
  });
  row.document_ms =
      over(trials, [&](const BenchTrial& t, auto& out) { add_all(out, t.document_ms()); });
  row.handoff_ms = over(trials, [](const BenchTrial& t, auto& out) {
    if (t.arm == "recompute") return;  // nothing is handed over
    for (const BenchAgent& agent : t.agents) {
      if (agent.prefix_ready_ms && agent.handed_over_ms) {
        out.push_back(*agent.handed_over_ms - *agent.prefix_ready_ms);
      }
    }
  });
  row.forward_ms =
      over(trials, [](const BenchTrial& t, auto& out) { out.push_back(t.forward_ms); });
  row.other_ms = over(trials, [](const BenchTrial& t, auto& out) {
    out.push_back(std::max(0.0, t.wall_ms - t.forward_ms));
  });
  row.decode_tokens_per_s = over(trials, [](const BenchTrial& t, auto& out) {
    if (t.decode_tokens_per_s) out.push_back(*t.decode_tokens_per_s);
  });
}

}  // namespace

std::vector<BenchRow> summarise(const std::vector<BenchTrial>& trials) {
  std::vector<BenchRow> rows;
  for (const BenchTrial& trial : trials) (void)row_of(rows, trial);
  for (BenchRow& row : rows) {
    Trials finished;
    for (const BenchTrial& t : trials) {
      if (!same_case(row, t) || row.arm != t.arm) continue;
      ++row.n_trials;
      row.peak_kv_bytes = std::max(row.peak_kv_bytes, t.peak_kv_bytes);
      row.peak_rss_bytes = std::max(row.peak_rss_bytes, t.peak_rss_bytes);
      if (t.status == "finished") {
        finished.push_back(&t);
        row.prompt_tokens = t.prompt_tokens;
        row.prompt_tokens_computed = t.prompt_tokens_computed;
        row.prompt_tokens_reused = t.prompt_tokens_reused;
      } else {
        if (row.n_failed++ == 0) row.error = t.error;
      }
    }
    fill(row, finished);
  }
  const BenchRow* first = nullptr;
  for (BenchRow& row : rows) {
    const bool same = first != nullptr && first->n_document == row.n_document &&
                      first->n_agents == row.n_agents && first->n_output == row.n_output;
    if (!same) first = &row;
    if (first->wall_ms && row.wall_ms && row.wall_ms->median > 0) {
      row.speedup = first->wall_ms->median / row.wall_ms->median;
    }
  }
  return rows;
}

}  // namespace swarmkv
