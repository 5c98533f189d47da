#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "swarmkv/engine.h"
#include "swarmkv/export.h"
#include "swarmkv/sampling.h"

namespace swarmkv {

/// What to measure: every combination of document length, number of agents and output length, with
/// every arm, `trials` times.
struct BenchOptions {
  std::string
      document;  ///< path; empty = a sentence that repeats, as long as `document_tokens` says
  std::vector<int> document_tokens;  ///< with a document: its first so many; empty = all of it
  std::vector<std::string>
      questions;  ///< own prompts of the agents, in turn; empty = made-up tokens
  std::vector<int> suffix_tokens{16};  ///< lengths of made-up own prompts, in turn
  std::vector<int> agents{1, 2, 8};
  std::vector<int> output_tokens{64};                    ///< 0 = prefill only
  std::vector<std::string> arms{"recompute", "shared"};  ///< as EngineOptions::handoff
  int trials = 5;
  int warmup = 1;           ///< rounds of all arms, with the fewest agents and few tokens, not kept
  bool ignore_eos = true;   ///< else answers may differ in length, and so arms in work
  std::uint32_t seed = 42;  ///< of made-up prompts and of sampling
  Sampling sampling;        ///< its seed is replaced
  EngineOptions engine;     ///< ctx_size 0 = what an arm needs in a case; handoff is the arm's
  RunOptions prompt;        ///< chat template and its date; used where there are questions
};

/// A scenario file: YAML with the names of these options as keys (docs/metrics.md), and model
/// settings. Keys that are not in it keep their values. errors are listed, as of a pipeline.
struct SWARMKV_API BenchScenario {
  BenchOptions options;
  ModelSpec model;
  std::vector<Diagnostic> diagnostics;
  [[nodiscard]] bool ok() const;
};
/// errors  kUnreadable
SWARMKV_API BenchScenario load_bench_scenario(const std::string& path, BenchOptions defaults = {});

/// One agent of a trial. Times in ms since the trial's clock 0; unset = never reached.
struct BenchAgent {
  int prompt_tokens = 0, suffix_tokens = 0, cached_tokens = 0, computed_tokens = 0;
  int completion_tokens = 0;
  std::optional<double> enqueued_ms, admitted_ms;
  std::optional<double> prefix_ready_ms;  ///< the document is computed; the hand-off begins
  std::optional<double> handed_over_ms;   ///< its own sequence holds the document
  std::optional<double> first_token_ms, finished_ms;
  std::string token_ids_digest;  ///< of the generated ids
};

/// One arm of one trial of one case: a raw sample. Clock 0: before the arm's first context is made.
struct BenchTrial {
  std::string arm;
  int n_document = 0, n_agents = 0, n_output = 0;  ///< the case
  int trial = 0;                                   ///< from 0
  int position = 0;                                ///< of the arm in this trial's order, from 0
  std::string status = "finished";                 ///< or "failed"
  std::string error;

  double setup_ms = 0;  ///< making the engine with its first, empty context
  double wall_ms = 0;   ///< clock 0 to the end of the last agent
  std::vector<BenchAgent> agents;
  std::int64_t prompt_tokens = 0, prompt_tokens_computed = 0, prompt_tokens_reused = 0;
  std::int64_t prompt_tokens_expected = 0;  ///< what this arm has to compute; else it failed
  std::int64_t completion_tokens = 0;
  bool cache_was_empty = false;  ///< asked of the new engine: no cell in use, no token evaluated
  /// Generated after the last agent had its first token, per second until the end.
  std::optional<double> decode_tokens_per_s;
  double forward_ms = 0, sample_ms = 0,
         handoff_ms = 0;  ///< of wall_ms; the rest is everything else
  std::uint64_t n_forwards = 0, n_handoffs = 0;
  int peak_kv_cells = 0;
  std::uint64_t peak_kv_bytes = 0;   ///< KV buffers and saved states that were there at once
  std::uint64_t peak_rss_bytes = 0;  ///< of the process during this trial; 0 = unknown
  std::string token_ids_digest;      ///< of all agents' generated ids, in order

  /// The times of the original experiment (docs/metrics.md), from the raw ones above.
  [[nodiscard]] SWARMKV_API std::vector<double> document_ms() const;  ///< each time it was computed
  [[nodiscard]] SWARMKV_API std::vector<double> branch_ms() const;    ///< hand-off, prompt, answer
  [[nodiscard]] SWARMKV_API std::vector<double> proxy_ms() const;     ///< start, measured its way
};

/// What all samples of a campaign have in common; two campaigns with other words are not mixed.
struct BenchSetup {
  std::string swarmkv_version, llama_commit, machine, os, device, compiler;
  int n_cores = 0;
  std::string model_path, model_name, model_fingerprint, quant;
  std::string document, document_digest;  ///< path or "synthetic"; of the token ids
  std::string prompts_digest;             ///< of the own prompts of the most agents
  int threads = 0, threads_batch = 0, batch_size = 0, ctx_size = 0, parallel = 0;
  std::string cache_type_k, cache_type_v, flash_attn, attention;
  std::string attention_target;  ///< empty = not forced
  bool deterministic = false, ignore_eos = true;
  double temperature = 0, top_p = 0, min_p = 0, repeat_penalty = 0;
  int top_k = 0, repeat_last_n = 0, n_gpu_layers = 0;
  std::uint32_t seed = 0;
};

/// Runs a benchmark. Thread-safe is cancel() alone.
class SWARMKV_API Bench {
 public:
  /// Reads the document and makes the prompts.
  /// errors  kInvalidArgument  an option out of range; kUnreadable, kUnsupported  the document
  Bench(const Model& model, const BenchOptions& options);
  Bench(Bench&&) noexcept;
  Bench& operator=(Bench&&) noexcept;
  ~Bench();

  [[nodiscard]] const BenchSetup& setup() const;
  [[nodiscard]] int n_trials() const;  ///< samples of a whole campaign
  /// Those of `trials` that belong to this campaign, each once.
  [[nodiscard]] std::vector<BenchTrial> known(std::vector<BenchTrial> trials) const;

  using OnTrial = std::function<void(const BenchTrial&)>;
  using OnWarmup = std::function<void(const std::string& arm)>;
  /// Runs what is not among `done` and returns all samples, in the order of the campaign.
  /// `on_trial` hears of each new one at once. A sample whose arm fails says so and is kept.
  std::vector<BenchTrial> run(std::vector<BenchTrial> done, const OnTrial& on_trial,
                              const OnWarmup& on_warmup = {});
  /// Ends the trial in progress without keeping it; finished ones are returned by run().
  void cancel();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Median, least and most of all samples, and how many there are.
struct BenchFigure {
  double median = 0, min = 0, max = 0;
  int n = 0;
};

/// One arm in one case, over its trials.
struct BenchRow {
  int n_document = 0, n_agents = 0, n_output = 0;
  std::string arm;
  int n_trials = 0, n_failed = 0;
  std::string error;  ///< of the first failed trial
  /// Over the trials that finished; unset if none did.
  std::optional<BenchFigure> wall_ms, first_token_ms, document_ms, handoff_ms, forward_ms, other_ms,
      decode_tokens_per_s;
  std::optional<double> speedup;  ///< median wall time of the case's first arm / of this one
  std::int64_t prompt_tokens = 0, prompt_tokens_computed = 0, prompt_tokens_reused = 0;
  std::uint64_t peak_kv_bytes = 0, peak_rss_bytes = 0;  ///< largest
};

/// In the order in which cases and arms first appear.
SWARMKV_API std::vector<BenchRow> summarise(const std::vector<BenchTrial>& trials);

/// One JSON object on one line, newline at the end: `swarmkv.bench/1` (docs/metrics.md).
SWARMKV_API std::string to_json_line(const BenchTrial& trial, const BenchSetup& setup);
/// Samples of an earlier, interrupted campaign. A last line that was cut off is left out.
/// errors  kCorrupt  a line that is no sample; kMismatch  of another campaign, naming the
/// difference
SWARMKV_API std::vector<BenchTrial> parse_bench_lines(std::string_view text,
                                                      const BenchSetup& setup);

SWARMKV_API std::string to_markdown(const std::vector<BenchRow>& rows, const BenchSetup& setup);
SWARMKV_API std::string to_csv(const std::vector<BenchRow>& rows);
SWARMKV_API std::string to_json(const std::vector<BenchRow>& rows,
                                const std::vector<BenchTrial>& trials, const BenchSetup& setup);

/// The original's figures, one `Key: Value` a line: of the case with two agents and the longest
/// document, the middle trial of `recompute` (baseline) and of the first other arm ("SwarmKV").
/// errors  kInvalidArgument  one of the two has no finished trial with two agents
SWARMKV_API std::string to_compat(const std::vector<BenchTrial>& trials, const BenchSetup& setup,
                                  const std::string& label);

/// "shared/recompute=1.9": in every case, shared must be at least 1.9 times as fast as recompute.
struct BenchThreshold {
  std::string arm, over;
  double ratio = 1;
};
/// errors  kInvalidArgument
SWARMKV_API BenchThreshold parse_threshold(const std::string& text);
/// What misses it, one sentence each; empty = met in every case. A failed arm misses it.
SWARMKV_API std::vector<std::string> misses(const BenchThreshold& threshold,
                                            const std::vector<BenchRow>& rows);

}  // namespace swarmkv
