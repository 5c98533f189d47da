// From one agent's request to its part of the report.
#include <chrono>
#include <string>

#include "api/build_report.h"
#include "base/digest.h"
#include "text/reasoning.h"

namespace swarmkv::internal {
namespace {

// The metrics of docs/metrics.md, from the raw times of one request.
void add_metrics(AgentReport& agent, const Result& r, TimePoint zero) {
  const auto at = [&](const std::optional<TimePoint>& t) {
    return t ? std::optional(ms_between(zero, *t)) : std::nullopt;
  };
  agent.enqueued_ms = at(r.enqueued);
  agent.admitted_ms = at(r.admitted);
  agent.prefix_ready_ms = at(r.prefix_ready);
  agent.first_token_ms = at(r.first_token);
  agent.finished_ms = at(r.finished);
  if (!agent.enqueued_ms) return;
  const double t0 = *agent.enqueued_ms;
  if (agent.finished_ms) agent.e2e_ms = *agent.finished_ms - t0;
  if (agent.first_token_ms) agent.ttft_ms = *agent.first_token_ms - t0;
  const std::size_t n = r.token_times.size();
  for (std::size_t i = 1; i < n; ++i) {
    agent.itl_samples_ms.push_back(ms_between(r.token_times[i - 1], r.token_times[i]));
  }
  if (n >= 2) {
    const double decode_ms = ms_between(r.token_times.front(), r.token_times.back());
    agent.tpot_ms = decode_ms / static_cast<double>(n - 1);
    if (decode_ms > 0) agent.output_tokens_per_s = 1000.0 * static_cast<double>(n - 1) / decode_ms;
  }
  agent.itl_ms = percentiles(agent.itl_samples_ms);
}

void add_result(AgentReport& agent, const Result& r, TimePoint zero, bool opens_reasoning) {
  SplitAnswer split = split_reasoning(r.text, opens_reasoning);
  agent.text = std::move(split.answer);
  agent.reasoning = std::move(split.reasoning);
  agent.token_ids = r.tokens;
  agent.token_ids_digest = digest64(bytes_of(r.tokens));
  agent.finish_reason = r.finish_reason;
  agent.n_preemptions = r.n_preemptions;
  agent.fork_fell_back = r.fork_fell_back;
  agent.prompt_tokens = r.n_prompt_tokens;
  agent.cached_tokens = r.n_cached_tokens;
  agent.computed_tokens = r.n_computed_tokens;
  agent.recomputed_tokens = r.n_recomputed_tokens;
  agent.prefix_computed_tokens = r.n_prefix_computed_tokens;
  agent.tail_computed_tokens = r.n_tail_computed_tokens;
  agent.peak_used_cells = r.peak_used_cells;
  agent.completion_tokens = static_cast<int>(r.tokens.size());
  add_metrics(agent, r, zero);
}

}  // namespace

AgentReport report_agent(const RunRecord& record, std::size_t i) {
  const AgentSpec& spec = record.prepared.pipeline.agents[i];
  const NodeResult& node = record.outcome.nodes[i];
  const NodeRecord known = record.runner.record(static_cast<NodeId>(i));
  AgentReport agent;
  agent.name = spec.name;
  agent.needs = spec.needs;
  if (spec.function) {
    agent.kind = "function";
    agent.text = node.outcome.answer;
    if (known.started) agent.enqueued_ms = ms_between(record.clock_zero, *known.started);
    if (known.finished) agent.finished_ms = ms_between(record.clock_zero, *known.finished);
    if (known.started && known.finished) agent.e2e_ms = ms_between(*known.started, *known.finished);
  } else {
    for (const std::size_t d : record.prepared.reads_of(i).documents) {
      agent.reads.push_back(record.prepared.documents[d].name);
    }
    agent.continues = spec.continues;
    agent.ready_after = record.prepared.agents[i].ready_after;
    agent.output_file = spec.output_file;
    const Sampling sampling = sampling_of(spec);
    agent.temperature = sampling.temperature;
    agent.seed = sampling.seed;
    agent.max_tokens = spec.max_tokens;
    agent.stop = spec.stop;
    if (known.result) {
      add_result(agent, *known.result, record.clock_zero, record.prepared.opens_reasoning(i));
    }
    for (const TimePoint t : known.preempted) {
      agent.preempted_ms.push_back(ms_between(record.clock_zero, t));
    }
    agent.truncated =
        agent.finish_reason == FinishReason::kLength && spec.max_tokens > 0 && !spec.ignore_eos;
  }
  switch (node.state) {
    case NodeState::kFinished:
      agent.status = AgentStatus::kFinished;
      if (!spec.sampling.json_schema.empty()) agent.json = agent.text;
      return agent;
    case NodeState::kSkipped:
      agent.status = AgentStatus::kSkipped;
      agent.skip_reason = node.outcome.error;
      return agent;
    case NodeState::kFailed:
      agent.status = AgentStatus::kFailed;
      break;
    default:
      agent.status = AgentStatus::kCancelled;
  }
  agent.error_code = std::string(to_string(node.outcome.error_code));
  agent.error = node.outcome.error;
  return agent;
}

}  // namespace swarmkv::internal
