// A run as it could have been, all times chosen by hand: every kind of wait, end and text in it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "swarmkv/report.h"

namespace swarmkv::testing {

// What a model could write to get into a page, a spreadsheet or a terminal. Each must stay text.
inline const std::string kHostile =
    "</script><script>document.documentElement.dataset.owned='yes'</script>"
    "<img src=x onerror=\"document.documentElement.dataset.owned='yes'\"><b id=hostile>bold</b>"
    "<!-- <style>*{display:none}</style> ]]> \x1b[31mred\x1b[0m \xe2\x80\xa8 \xe2\x80\xa9 "
    "\xe2\x80\xae";

struct Times {
  double enqueued, ready, admitted, first, per_token;
  int n_tokens;
};

inline AgentReport timed_agent(std::string name, std::vector<std::string> needs, Times t,
                               int own_prompt) {
  AgentReport a;
  a.name = std::move(name);
  a.needs = std::move(needs);
  a.status = AgentStatus::kFinished;
  a.finish_reason = FinishReason::kStop;
  a.reads = {"contract"};
  a.max_tokens = 500;
  a.seed = 7;
  a.prompt_tokens = 41237 + own_prompt;
  a.cached_tokens = 41237;
  a.computed_tokens = own_prompt;
  a.completion_tokens = t.n_tokens;
  for (int i = 1; i < t.n_tokens; ++i) {
    a.itl_samples_ms.push_back(t.per_token * (i % 11 == 0 ? 2.2 : 0.9 + 0.01 * (i % 20)));
  }
  double decode_ms = 0;
  for (const double gap : a.itl_samples_ms) decode_ms += gap;
  a.enqueued_ms = t.enqueued;
  a.prefix_ready_ms = t.ready;
  a.admitted_ms = t.admitted;
  a.first_token_ms = t.first;
  a.finished_ms = t.first + decode_ms;
  const double warm = std::max(t.enqueued, t.ready);
  a.document_wait_ms = warm - t.enqueued;
  a.queue_ms = std::max(0.0, t.admitted - warm);
  a.prefill_ms = t.first - std::max(warm, t.admitted);
  a.ttft_ms = t.first - t.enqueued;
  a.ttft_warm_ms = t.first - warm;
  a.tpot_ms = decode_ms / std::max(1, t.n_tokens - 1);
  a.output_tokens_per_s = 1000 / *a.tpot_ms;
  a.e2e_ms = *a.finished_ms - t.enqueued;
  a.itl_ms = percentiles(a.itl_samples_ms);
  a.text = "The seller delivers forty barrels within thirty days.\n\nEither side may cancel.\n";
  a.token_ids_digest = "00112233";
  return a;
}

//   contract --> parties, risks (cut), dates, obligations --> memo --> critic (continues memo)
//            \-> teaser (sees the first 4,000), clauses (failed) --> summary (skipped), hostile
inline std::vector<AgentReport> nine_agents() {
  AgentReport teaser = timed_agent("teaser", {}, {0, 900, 900, 1030, 28, 120}, 38);
  teaser.ready_after = 4000;
  teaser.prompt_tokens = 4038;
  teaser.cached_tokens = 4000;
  AgentReport parties = timed_agent("parties", {}, {0, 8000, 10, 8120, 14, 150}, 58);
  AgentReport risks = timed_agent("risks", {}, {0, 8000, 10, 8125, 14, 500}, 61);
  risks.finish_reason = FinishReason::kLength;
  risks.truncated = true;
  AgentReport obligations = timed_agent("obligations", {}, {0, 8000, 9900, 10120, 15, 320}, 140);
  obligations.json =
      R"({"clauses":[{"id":"4.2","text":"delivery \u003c 30 days"}],"complete":true})";
  obligations.text = *obligations.json;
  obligations.n_preemptions = 1;
  obligations.preempted_ms = {12400};
  obligations.itl_samples_ms[120] = 640;
  AgentReport memo = timed_agent("memo", {"parties", "risks", "obligations"},
                                 {15900, 8000, 15900, 16170, 10, 350}, 1311);
  memo.reasoning =
      "First the parties, then what each owes.\nThe cut list of risks is not complete.";
  memo.output_file = "out/memo.md";
  AgentReport critic = timed_agent("critic", {"memo"}, {20000, 8000, 20000, 20040, 9, 90}, 22);
  critic.continues = "memo";
  AgentReport clauses = timed_agent("clauses", {}, {0, 8000, 10, 8130, 15, 200}, 44);
  clauses.status = AgentStatus::kFailed;
  clauses.finish_reason = FinishReason::kNone;
  clauses.error_code = "timeout";
  clauses.error = "timed out after 11 s";
  AgentReport summary;
  summary.name = "summary";
  summary.status = AgentStatus::kSkipped;
  summary.needs = {"clauses"};
  summary.skip_reason = "skipped because 'clauses' did not finish";
  summary.reads = {"contract"};
  AgentReport hostile = timed_agent("hostile", {}, {0, 8000, 10, 8140, 16, 60}, 50);
  hostile.text = "=SUM(A1)\n" + kHostile + std::string("\0NUL", 4);
  hostile.reasoning = kHostile;
  return {teaser, parties, risks, obligations, memo, critic, clauses, summary, hostile};
}

inline RunReport nine_agents_report() {
  RunReport r;
  r.run_id = "0123456789abcdef";
  r.name = "contract-review";
  r.status = "failed";
  r.exit_code = 1;
  r.started_at = "2026-01-02T03:04:05Z";
  r.command = {"run", "contract.yaml", "--report", "review.html"};
  r.model_path = "models/qwen3-8b-q4_k_m.gguf";
  r.model_name = "Qwen3 8B";
  r.model_fingerprint = "7c1b36f1b29f4f0f9c5f2d1f0c3b5a11-98304";
  r.quant = "Q4_K_M";
  r.device = "CPU";
  r.n_params = 8'190'000'000;
  r.load_ms = 2100;
  r.ctx_size = 49152;
  r.cache_type_k = r.cache_type_v = "f16";
  r.documents = {
      {"contract", "beef0123beef0123", 41237, "computed", 41237, 8000.0, 5154.6, 8000.0}};
  r.agents = nine_agents();
  std::vector<double> ttft, tpot, e2e, itl;
  for (const AgentReport& a : r.agents) {
    r.prompt_tokens += a.prompt_tokens.value_or(0);
    r.completion_tokens += a.completion_tokens.value_or(0);
    r.prompt_tokens_reused += a.cached_tokens.value_or(0);
    r.duration_ms = std::max(r.duration_ms, a.finished_ms.value_or(0));
    if (a.ttft_ms) ttft.push_back(*a.ttft_ms);
    if (a.tpot_ms) tpot.push_back(*a.tpot_ms);
    if (a.e2e_ms) e2e.push_back(*a.e2e_ms);
    itl.insert(itl.end(), a.itl_samples_ms.begin(), a.itl_samples_ms.end());
  }
  r.prompt_tokens_reused -= 41237;
  r.prompt_tokens_computed = r.prompt_tokens - r.prompt_tokens_reused;
  r.ttft_ms = percentiles(ttft);
  r.tpot_ms = percentiles(tpot);
  r.e2e_ms = percentiles(e2e);
  r.itl_ms = percentiles(itl);
  r.n_finished = 7;
  r.n_failed = r.n_skipped = r.n_truncated = 1;
  r.counters = {19.2, 0.7, 0.002, 0.3, 0.6, 1106, 980, 1790, 8, 43300, 0.25, 900};
  r.critical_path = {"document:contract", "risks", "memo", "critic"};
  r.critical_path_ms = {8000, 7256, 3790, 860};
  r.peak_kv_cells = 42614;
  r.peak_rss_bytes = 9'400'000'000;
  r.warnings = {{"SK601", "risks", "contract.yaml:34:3",
                 "cut at max_tokens=500; memo used the cut text",
                 "try --set agents.risks.max_tokens=1000"}};
  return r;
}

// The same run on a contract that came from a snapshot but for its last 237 tokens, with an annex
// that came from one as a whole, kept anew together with the contract, and a letter whose own was
// rejected.
inline RunReport restored_report() {
  RunReport r = nine_agents_report();
  DocumentReport& contract = r.documents[0];
  contract.source = "restored";
  contract.computed_tokens = 237;
  contract.restored_tokens = 41'000;
  contract.prefill_ms = 60;
  contract.snapshot = {"restored", "/cache/snapshots/5f0c.swkv", 904'000'000, 41'000, 640, {}};
  DocumentReport annex = contract;
  annex.name = "annex";
  annex.n_tokens = annex.restored_tokens = 1200;
  annex.computed_tokens = 0;
  annex.prefill_ms.reset();
  annex.ready_ms.reset();
  annex.snapshot = {"saved", "/cache/snapshots/90cc.swkv", 930'000'000, 42'437, 999, {}};
  annex.snapshot->files = {
      {"restored", "/cache/snapshots/77aa.swkv", 26'000'000, 1200, 31, {}, {"annex"}},
      {"saved", "/cache/snapshots/90cc.swkv", 930'000'000, 42'437, 999, {}, {"contract", "annex"}}};
  DocumentReport letter = contract;
  letter.name = "letter";
  letter.n_tokens = letter.computed_tokens = 300;
  letter.restored_tokens = 0;
  letter.source = "computed";
  letter.snapshot = {"rejected", "/cache/old.swkv", 0, 0, 0, "cache_type_k q8_0, here f16"};
  r.documents.push_back(annex);
  r.documents.push_back(letter);
  for (std::size_t i : {1U, 2U}) r.agents[i].reads = {"contract", "annex"};
  r.agents[3].reads = {"contract", "letter"};
  return r;
}

// Two agents: one reads the rules alone, the other behind the letter of a buyer.
inline RunReport two_places_report() {
  RunReport r = nine_agents_report();
  r.agents.resize(2);
  r.agents[0].name = "alone";
  r.agents[0].reads = {"rules"};
  r.agents[1].name = "second";
  r.agents[1].reads = {"letter", "rules"};
  for (AgentReport& agent : r.agents) {
    agent.needs.clear();
    agent.continues.clear();
  }
  DocumentReading front{"", "alone", 97, "computed", 97, 0, 100.0, 970.0, 100.0, {}};
  DocumentReading behind{"letter", "second", 99, "computed", 99, 0, 300.0, 330.0, 700.0, {}};
  DocumentReading letter{"", "second", 185, "restored", 0, 185, {}, {}, 400.0, {}};
  r.documents = {
      {"rules", "beef", 97, "computed", 196, 100.0, 970.0, 100.0, {}, 0, {front, behind}},
      {"letter", "f00d", 185, "restored", 0, {}, {}, 400.0, {}, 185, {letter}}};
  r.critical_path = {"document:rules", "second"};
  return r;
}

}  // namespace swarmkv::testing
