#include "api/build_report.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/process_info.h"

namespace swarmkv::internal {
namespace {

// TTFT = waiting for the documents + queueing for cells + own prefill. They count as ready when the
// first agent that waits for just as much could use them: an agent of a later wave queued from then
// on, and its warm TTFT must not leave that out.
void split_first_token_times(RunReport& report, const Prepared& prepared) {
  std::map<const Tokens*, double> ready;
  for (std::size_t i = 0; i < report.agents.size(); ++i) {
    const std::optional<double>& at = report.agents[i].prefix_ready_ms;
    if (!at) continue;
    const auto [known, is_new] = ready.emplace(prepared.agents[i].prefix.get(), *at);
    if (!is_new) known->second = std::min(known->second, *at);
  }
  for (std::size_t i = 0; i < report.agents.size(); ++i) {
    AgentReport& agent = report.agents[i];
    if (!agent.enqueued_ms || !agent.admitted_ms || !agent.prefix_ready_ms) continue;
    agent.prefix_ready_ms = ready.at(prepared.agents[i].prefix.get());
    const double warm_start = std::max(*agent.enqueued_ms, *agent.prefix_ready_ms);
    agent.document_wait_ms = warm_start - *agent.enqueued_ms;
    agent.queue_ms = std::max(0.0, *agent.admitted_ms - warm_start);
    if (!agent.first_token_ms) continue;
    agent.ttft_warm_ms = *agent.first_token_ms - warm_start;
    agent.prefill_ms = *agent.first_token_ms - std::max(warm_start, *agent.admitted_ms);
  }
}

// Twice the room, by what counts for this agent: a key of the file, unless a flag or variable for
// all agents has the last word, or there is no file.
std::string more_room(const AgentSpec& spec, int max_tokens) {
  constexpr int kMost = 1'000'000;  // of a pipeline file and of the flag
  const int more = max_tokens < kMost / 2 ? std::max(1, max_tokens) * 2 : kMost;
  const auto key = spec.key_pos.find("max_tokens");
  const bool for_all = key != spec.key_pos.end() && key->second.line == 0 &&
                       spec.changed_keys.count("max_tokens") == 0;
  if (spec.pos.file.empty() || for_all) return "raise max_tokens: -n " + std::to_string(more);
  return "try --set agents." + spec.name + ".max_tokens=" + std::to_string(more);
}

// It finished, and yet there is no answer behind its reasoning.
bool has_only_reasoning(const AgentReport& agent) {
  return agent.status == AgentStatus::kFinished && agent.reasoning && agent.text.empty();
}

void add_warnings(RunReport& report, const RunRecord& record) {
  for (const Diagnostic& d : record.prepared.warnings) {
    report.warnings.push_back({d.code, {}, to_string(d.pos), d.message, d.hint});
  }
  for (std::size_t i = 0; i < report.agents.size(); ++i) {
    const AgentReport& agent = report.agents[i];
    const AgentSpec& spec = record.prepared.pipeline.agents[i];
    if (agent.truncated) {
      std::string users;
      for (const AgentSpec& other : record.prepared.pipeline.agents) {
        if (std::find(other.needs.begin(), other.needs.end(), agent.name) == other.needs.end())
          continue;
        users += (users.empty() ? "; " : ", ") + other.name;
      }
      const bool lost_json = !spec.sampling.json_schema.empty() && !agent.json;
      if (!users.empty()) users += lost_json ? " had no whole JSON of it" : " used the cut text";
      const auto key = spec.key_pos.find("max_tokens");
      const SourcePos& pos = key != spec.key_pos.end() ? key->second : spec.pos;
      report.warnings.push_back({"SK601", agent.name, to_string(pos),
                                 "cut at max_tokens=" + std::to_string(agent.max_tokens) +
                                     (has_only_reasoning(agent) ? " before an answer" : "") + users,
                                 more_room(spec, agent.max_tokens)});
    } else if (has_only_reasoning(agent) && agent.finish_reason == FinishReason::kStop) {
      report.warnings.push_back(
          {"SK611", agent.name, to_string(spec.pos), "no answer behind the reasoning",
           spec.stop.empty() ? "" : "one of its stop texts may have ended the reasoning"});
    }
    if (agent.fork_fell_back) {
      report.warnings.push_back({"SK605",
                                 agent.name,
                                 to_string(spec.pos),
                                 "this model cannot fork where the prompts part; the rest of the "
                                 "shared text was computed again",
                                 {}});
    }
  }
}

template <typename Get>
Percentiles percentiles_of(const RunReport& report, Get get) {
  std::vector<double> samples;
  for (const AgentReport& agent : report.agents) {
    if (const std::optional<double> value = get(agent)) samples.push_back(*value);
  }
  return percentiles(std::move(samples));
}

void add_summary(RunReport& report, bool computes_alone) {
  std::vector<double> itl;
  std::int64_t n_private = 0, n_shared = 0, n_from_cache = 0;
  for (const AgentReport& agent : report.agents) {
    report.n_finished += agent.status == AgentStatus::kFinished;
    report.n_failed += agent.status == AgentStatus::kFailed;
    report.n_skipped += agent.status == AgentStatus::kSkipped;
    report.n_cancelled += agent.status == AgentStatus::kCancelled;
    report.n_truncated += agent.truncated;
    report.prompt_tokens += agent.prompt_tokens.value_or(0);
    report.completion_tokens += agent.completion_tokens.value_or(0);
    n_private += agent.computed_tokens.value_or(0);
    if (!computes_alone) {
      n_shared += agent.prefix_computed_tokens.value_or(0) + agent.tail_computed_tokens.value_or(0);
    }
    report.peak_kv_cells = std::max(report.peak_kv_cells, agent.peak_used_cells.value_or(0));
    // What an unfinished agent never got to was not reused.
    n_from_cache += agent.status == AgentStatus::kFinished
                        ? agent.prompt_tokens.value_or(0) - agent.computed_tokens.value_or(0)
                        : agent.cached_tokens.value_or(0);
    itl.insert(itl.end(), agent.itl_samples_ms.begin(), agent.itl_samples_ms.end());
  }
  report.prompt_tokens_computed = n_shared + n_private;
  report.prompt_tokens_reused = std::max<std::int64_t>(0, n_from_cache - n_shared);
  report.itl_ms = percentiles(std::move(itl));
  report.ttft_ms = percentiles_of(report, [](const AgentReport& a) { return a.ttft_ms; });
  report.tpot_ms = percentiles_of(report, [](const AgentReport& a) { return a.tpot_ms; });
  report.e2e_ms = percentiles_of(report, [](const AgentReport& a) { return a.e2e_ms; });
}

EngineCounters difference(const EngineCounters& after, const EngineCounters& before) {
  EngineCounters d = after;
  d.forward_s -= before.forward_s;
  d.sample_s -= before.sample_s;
  d.fork_s -= before.fork_s;
  d.other_s = std::max(0.0, d.other_s - before.other_s);
  d.idle_s -= before.idle_s;
  d.n_forwards -= before.n_forwards;
  d.n_decode_steps -= before.n_decode_steps;
  d.n_decode_rows -= before.n_decode_rows;
  d.n_forks -= before.n_forks;
  d.n_forward_tokens -= before.n_forward_tokens;
  d.mask_s -= before.mask_s;
  d.n_graphs_reused -= before.n_graphs_reused;
  return d;
}

}  // namespace

RunReport build_report(const RunRecord& record) {
  RunReport report;
  report.name = record.prepared.pipeline.name;
  for (std::size_t i = 0; i < record.prepared.pipeline.agents.size(); ++i) {
    report.agents.push_back(report_agent(record, i));
  }
  split_first_token_times(report, record.prepared);
  add_documents(report, record);
  report.duration_ms = ms_between(record.clock_zero, record.finished);
  add_summary(report, record.computes_alone);
  add_critical_path(report, record);
  add_warnings(report, record);
  report.counters = difference(record.after.counters, record.before.counters);
  report.ctx_size = record.after.n_cells;
  report.peak_rss_bytes = peak_rss_bytes();

  const bool all_finished = report.n_finished == static_cast<int>(report.agents.size());
  report.status = record.outcome.timed_out   ? "timeout"
                  : record.outcome.cancelled ? "cancelled"
                  : all_finished             ? "finished"
                                             : "failed";
  report.exit_code = record.after.engine_failed ? exit_code(ErrorCode::kEngineFailed)
                     : record.outcome.timed_out ? 124
                     : all_finished             ? 0
                                                : 1;
  return report;
}

}  // namespace swarmkv::internal
