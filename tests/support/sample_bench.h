// Samples of a benchmark with chosen times, so that everything made of them can be predicted.
#pragma once

#include <string>
#include <vector>

#include "swarmkv/bench.h"

namespace swarmkv::testing {

inline BenchSetup sample_setup() {
  BenchSetup s;
  s.swarmkv_version = "0.1.0";
  s.llama_commit = "0c1e570";
  s.compiler = "GNU 12";
  s.machine = "Test | CPU";
  s.os = "Linux";
  s.device = "CPU";
  s.n_cores = 2;
  s.model_path = "m.gguf";
  s.model_name = "Tiny";
  s.model_fingerprint = "abc";
  s.quant = "Q4_1";
  s.document = "licence.txt";
  s.document_digest = "d1";
  s.prompts_digest = "p1";
  s.batch_size = 512;
  s.cache_type_k = s.cache_type_v = "f16";
  s.flash_attn = "auto";
  s.attention = "auto";
  s.seed = 42;
  return s;
}

/// `document_ms` for the prefill, 10 ms hand-off, 90 ms own prompt, 400 ms answer for each agent:
/// one after another (recompute computes the document each time) or, if `arm` is shared, together.
inline BenchTrial sample_trial(const std::string& arm, int n_agents, int trial,
                               double document_ms = 4000, int n_document = 3500) {
  BenchTrial t;
  t.arm = arm;
  t.n_document = n_document;
  t.n_agents = n_agents;
  t.n_output = 16;
  t.trial = trial;
  t.setup_ms = 20;
  t.cache_was_empty = true;
  const bool again = arm == "recompute", together = arm == "shared";
  double clock = t.setup_ms;
  for (int i = 0; i < n_agents; ++i) {
    BenchAgent a;
    a.suffix_tokens = 6 - 2 * i;
    a.prompt_tokens = n_document + a.suffix_tokens;
    a.cached_tokens = again ? 0 : n_document;
    a.computed_tokens = again ? a.prompt_tokens : a.suffix_tokens;
    a.completion_tokens = 16;
    a.enqueued_ms = t.setup_ms;
    a.admitted_ms = together ? t.setup_ms : clock;
    a.prefix_ready_ms = *a.admitted_ms + (again || together || i == 0 ? document_ms : 0);
    a.handed_over_ms = *a.prefix_ready_ms + (again ? 0 : 10);
    a.first_token_ms = *a.handed_over_ms + 90;
    a.finished_ms = *a.first_token_ms + 400;
    a.token_ids_digest = "t" + std::to_string(i);
    clock = *a.finished_ms;
    t.prompt_tokens += a.prompt_tokens;
    t.prompt_tokens_computed += a.suffix_tokens + (again ? n_document : 0);
    t.completion_tokens += 16;
    t.agents.push_back(a);
  }
  if (!again) t.prompt_tokens_computed += n_document;
  t.prompt_tokens_expected = t.prompt_tokens_computed;
  t.prompt_tokens_reused = t.prompt_tokens - t.prompt_tokens_computed;
  t.wall_ms = clock;
  t.forward_ms = 0.9 * clock;
  t.sample_ms = 5;
  t.handoff_ms = again ? 0 : 10.0 * n_agents;
  t.decode_tokens_per_s = 37.5;
  t.n_forwards = 30;
  t.n_handoffs = again ? 0 : static_cast<std::uint64_t>(n_agents);
  t.peak_kv_cells = 3600;
  t.peak_kv_bytes = 100U << 20;
  t.peak_rss_bytes = 300U << 20;
  t.token_ids_digest = "all";
  return t;
}

inline BenchTrial failed_trial(const std::string& arm, int n_agents, int trial) {
  BenchTrial t = sample_trial(arm, n_agents, trial);
  t.status = "failed";
  t.error = "[engine.load] the state has 100 bytes,\n0 | were read";
  t.agents.clear();
  return t;
}

inline std::vector<BenchTrial> sample_trials() {
  std::vector<BenchTrial> trials;
  const double document_ms[] = {4100, 4000, 4600};
  for (int i = 0; i < 3; ++i) {
    trials.push_back(sample_trial("recompute", 2, i, document_ms[i]));
    trials.push_back(sample_trial("shared", 2, i, document_ms[i]));
    trials.push_back(failed_trial("device", 2, i));
    trials.push_back(i == 1 ? failed_trial("snapshot", 2, i)
                            : sample_trial("snapshot", 2, i, document_ms[i]));
  }
  return trials;
}

}  // namespace swarmkv::testing
