// One run with every kind of ending in it, all numbers chosen by hand.
#pragma once

#include "swarmkv/report.h"

namespace swarmkv::testing {

//   contract --> teaser
//            \-> risk (cut) --> memo
//            \-> clauses (failed) --> summary (skipped)
//            \-> late (cancelled)
inline RunReport sample_report() {
  RunReport r;
  r.run_id = "0123abcd";
  r.name = "contract-review";
  r.exit_code = 1;
  r.started_at = "2026-01-02T03:04:05Z";
  r.command = {"run", "contract.yaml"};
  r.model_path = "models/tiny.gguf";
  r.model_name = "tiny";
  r.model_fingerprint = "f00d";
  r.quant = "Q4_K_M";
  r.device = "CPU";
  r.n_params = 135'000'000;
  r.load_ms = 2100;
  r.ctx_size = 49152;
  r.cache_type_k = r.cache_type_v = "f16";

  DocumentReport document;
  document.name = "contract";
  document.digest = "beef";
  document.n_tokens = document.computed_tokens = 41237;
  document.prefill_ms = document.ready_ms = 8000;
  document.prefill_tokens_per_s = 5154.625;
  r.documents = {document};

  AgentReport risk;
  risk.name = "risk";
  risk.status = AgentStatus::kFinished;
  risk.finish_reason = FinishReason::kLength;
  risk.truncated = true;
  risk.reads = {"contract"};
  risk.text = "Clause 4.2 \xe2\x80\x94 delivery\n";
  risk.prompt_tokens = 41295;
  risk.cached_tokens = 41237;
  risk.computed_tokens = 58;
  risk.recomputed_tokens = 0;
  risk.completion_tokens = 500;
  risk.ttft_ms = 8120;
  risk.ttft_warm_ms = 120;
  risk.tpot_ms = 14.3;
  risk.e2e_ms = 15256;
  risk.document_wait_ms = 8000;
  risk.queue_ms = 20;
  risk.prefill_ms = 100;
  risk.output_tokens_per_s = 69.93;
  risk.itl_ms = {14.1, 16.0, 19.8, 31.2, 499};
  risk.enqueued_ms = 0;
  risk.prefix_ready_ms = 8000;
  risk.admitted_ms = 8020;
  risk.first_token_ms = 8120;
  risk.finished_ms = 15256;
  risk.temperature = 0.3;
  risk.seed = 7;
  risk.max_tokens = 500;
  risk.stop = {"END"};
  risk.token_ids_digest = "00112233";

  AgentReport teaser = risk;
  teaser.name = "teaser";
  teaser.finish_reason = FinishReason::kStop;
  teaser.truncated = false;
  teaser.completion_tokens = 1;
  teaser.tpot_ms.reset();
  teaser.itl_ms = {};
  teaser.stop.clear();

  AgentReport memo;
  memo.name = "memo";
  memo.kind = "function";
  memo.status = AgentStatus::kFinished;
  memo.needs = {"risk"};
  memo.text = "done";
  memo.e2e_ms = 12;

  AgentReport clauses;
  clauses.name = "clauses";
  clauses.status = AgentStatus::kFailed;
  clauses.error_code = "timeout";
  clauses.error = "timed out after 90 s";
  clauses.max_tokens = 500;

  AgentReport summary;
  summary.name = "summary";
  summary.status = AgentStatus::kSkipped;
  summary.skip_reason = "'clauses' failed";
  summary.needs = {"clauses"};

  AgentReport late;
  late.name = "late";
  late.status = AgentStatus::kCancelled;

  r.agents = {teaser, risk, memo, clauses, summary, late};
  r.n_finished = 3;
  r.n_failed = r.n_skipped = r.n_cancelled = r.n_truncated = 1;
  r.duration_ms = 20470;
  r.prompt_tokens = 213430;
  r.prompt_tokens_computed = 42821;
  r.prompt_tokens_reused = 170609;
  r.completion_tokens = 501;
  r.ttft_ms = {8120, {}, {}, 8120, 2};
  r.itl_ms = {14.1, 16.0, 19.8, 31.2, 499};
  r.counters = {18.0, 0.4, 0.002, 0.098, 2.0, 1106, 500, 814, 8, 43300, 0.25, 900};
  r.critical_path = {"document:contract", "risk", "memo"};
  r.critical_path_ms = {8000, 7256, 12};
  r.peak_kv_cells = 42614;
  r.warnings = {{"SK601", "risk", "contract.yaml:34:3",
                 "cut at max_tokens=500; memo used the cut text",
                 "try --set agents.risk.max_tokens=1000"}};
  return r;
}

}  // namespace swarmkv::testing
