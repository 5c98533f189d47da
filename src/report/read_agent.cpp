#include "report/json_reading.h"

namespace swarmkv::internal {
namespace {

AgentStatus status_of(const std::string& name) {
  for (const AgentStatus status :
       {AgentStatus::kFinished, AgentStatus::kFailed, AgentStatus::kSkipped}) {
    if (name == to_string(status)) return status;
  }
  return AgentStatus::kCancelled;
}

FinishReason reason_of(const std::string& name) {
  for (const FinishReason reason : {FinishReason::kStop, FinishReason::kLength}) {
    if (name == to_string(reason)) return reason;
  }
  return FinishReason::kNone;
}

void read_metrics(const Json& m, AgentReport& a) {
  a.ttft_ms = number_if(m, "ttft_ms");
  a.ttft_warm_ms = number_if(m, "ttft_warm_ms");
  a.tpot_ms = number_if(m, "tpot_ms");
  a.itl_ms = percentiles_of(m, "itl_ms");
  a.e2e_ms = number_if(m, "e2e_ms");
  a.document_wait_ms = number_if(m, "document_wait_ms");
  a.queue_ms = number_if(m, "queue_ms");
  a.prefill_ms = number_if(m, "prefill_ms");
  a.output_tokens_per_s = number_if(m, "output_tokens_per_s");
}

void read_timeline(const Json& t, AgentReport& a) {
  a.enqueued_ms = number_if(t, "enqueued_ms");
  a.prefix_ready_ms = number_if(t, "prefix_ready_ms");
  a.admitted_ms = number_if(t, "admitted_ms");
  a.first_token_ms = number_if(t, "first_token_ms");
  a.finished_ms = number_if(t, "finished_ms");
}

void read_sampling(const Json& s, AgentReport& a) {
  a.temperature = number_of(s, "temperature");
  a.seed = static_cast<std::uint32_t>(size_of(s, "seed"));
  a.max_tokens = count_of(s, "max_tokens");
  a.stop = texts_of(s, "stop");
}

}  // namespace

AgentReport read_agent(const Json& json) {
  AgentReport a;
  a.name = text_of(json, "name");
  a.kind = text_if(json, "kind").value_or(a.kind);
  a.status = status_of(text_of(json, "status"));
  a.finish_reason = reason_of(text_of(json, "finish_reason"));
  a.truncated = flag_of(json, "truncated");
  a.error_code = text_if(member(json, "error"), "code");
  a.error = text_if(member(json, "error"), "message");
  a.skip_reason = text_if(json, "skip_reason");
  a.needs = texts_of(json, "needs");
  a.continues = text_of(json, "continues");
  a.reads = texts_of(json, "reads");
  a.ready_after = count_if(json, "ready_after");
  a.text = text_of(json, "text");
  a.reasoning = text_if(json, "reasoning");
  if (const Json& answer = member(json, "json"); !answer.is_null()) a.json = answer.dump();
  a.output_file = text_of(json, "output_file");
  a.n_preemptions = count_of(json, "preemptions");
  const Json& usage = member(json, "usage");
  a.prompt_tokens = count_if(usage, "prompt_tokens");
  a.cached_tokens = count_if(usage, "cached_tokens");
  a.completion_tokens = count_if(usage, "completion_tokens");
  read_metrics(member(json, "metrics"), a);
  read_timeline(member(json, "timeline"), a);
  read_sampling(member(json, "sampling"), a);
  a.token_ids_digest = text_of(json, "token_ids_digest");
  a.fork_fell_back = flag_of(json, "fork_fell_back");
  return a;
}

}  // namespace swarmkv::internal
