#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "swarmkv/export.h"
#include "swarmkv/request.h"

namespace swarmkv {

enum class AgentStatus { kFinished, kFailed, kSkipped, kCancelled };
SWARMKV_API const char* to_string(AgentStatus status) noexcept;
SWARMKV_API const char* to_string(FinishReason reason) noexcept;

/// Nearest-rank percentiles of raw samples in ms; p95 and p99 only from 20 samples on
/// (docs/metrics.md).
struct Percentiles {
  std::optional<double> p50, p95, p99, max;
  std::size_t n = 0;
};
SWARMKV_API Percentiles percentiles(std::vector<double> samples_ms);

struct AgentReport {
  std::string name;
  std::string kind = "llm";  ///< "llm" or "function"
  AgentStatus status = AgentStatus::kCancelled;
  FinishReason finish_reason = FinishReason::kNone;
  bool truncated = false;  ///< cut at max_tokens
  std::optional<std::string> error_code, error, skip_reason;
  std::vector<std::string> needs, reads;
  std::string continues;                 ///< empty = a conversation of its own
  std::optional<int> ready_after;        ///< document tokens it waited for and saw, if not all
  std::string text;                      ///< without its reasoning
  std::optional<std::string> reasoning;  ///< between <think> marks
  std::optional<std::string> json;       ///< the answer as JSON text, where a schema asked for it
  std::string output_file;               ///< as the pipeline has it
  int n_preemptions = 0;
  bool fork_fell_back = false;

  std::optional<int> prompt_tokens, cached_tokens, computed_tokens, recomputed_tokens,
      completion_tokens;
  /// Tokens of shared prefixes that were evaluated on its behalf, in declared ones and beyond; most
  /// cells of the pool in use while it ran. Not in the JSON: its summary has the sums.
  std::optional<int> prefix_computed_tokens, tail_computed_tokens, peak_used_cells;
  // Metrics, ms; formulas in docs/metrics.md. Unset = unknown, never 0.
  std::optional<double> ttft_ms, ttft_warm_ms, tpot_ms, e2e_ms, document_wait_ms, queue_ms,
      prefill_ms;
  std::optional<double> output_tokens_per_s;
  Percentiles itl_ms;
  std::vector<double> itl_samples_ms;
  // Timeline, ms since run clock 0.
  std::optional<double> enqueued_ms, prefix_ready_ms, admitted_ms, first_token_ms, finished_ms;
  std::vector<double> preempted_ms;  ///< when it gave up its cells (not in the JSON)

  double temperature = 0;
  std::uint32_t seed = 0;
  int max_tokens = 0;
  std::vector<std::string> stop;
  std::string token_ids_digest;  ///< xxh3-64 of the generated ids, hex
  Tokens token_ids;              ///< generated ids (not in the JSON)
};

/// What became of one file, or why there is none.
struct SnapshotFileReport {
  std::string state;                     ///< "restored", "saved", "rejected" or "skipped"
  std::string path;                      ///< empty if there is none
  std::uint64_t size_bytes = 0;          ///< of the file; 0 = unknown
  int n_tokens = 0;                      ///< that it holds
  double ms = 0;                         ///< finding, verifying and restoring it, or saving it
  std::optional<std::string> reason{};   ///< why rejected or skipped
  std::vector<std::string> documents{};  ///< whose state it is, in the order of reading
};

/// What became of a document's snapshot: of the files, the one that says most.
struct SnapshotReport {
  std::string state;  ///< "restored", "saved", "rejected" (not used, nothing saved) or "skipped"
  std::string path;   ///< the file; empty if there is none
  std::uint64_t size_bytes = 0;  ///< of the file
  int n_tokens = 0;              ///< that it holds
  double ms = 0;                 ///< finding, verifying and restoring it, or saving it
  /// Why rejected or skipped; saved or restored: why another one was not used.
  std::optional<std::string> reason{};
  /// Every file with this document in it that was met or made, also those of longer prefixes;
  /// "skipped" stands for one that was not made.
  std::vector<SnapshotFileReport> files{};
};

/// A document in one of the places in which agents read it. Behind other documents it is other
/// tokens to the model than in front of them, and is computed, kept and restored for itself.
struct DocumentReading {
  std::string after;   ///< the document right in front of it; empty = there is none
  std::string reader;  ///< the first agent of the file that reads it there
  int n_tokens = 0;    ///< with what stands in front of it and is no document
  /// "computed", "cached" (it was there), "restored" (all or a part of it from a snapshot),
  /// "unread" (no agent got to it)
  std::string source = "unread";
  int computed_tokens = 0;
  int restored_tokens = 0;  ///< of its tokens, those that a snapshot brought
  std::optional<double> prefill_ms, prefill_tokens_per_s;  ///< until `ready_ms`
  std::optional<double> ready_ms;            ///< when all of it was there, ms since run clock 0
  std::optional<SnapshotReport> snapshot{};  ///< unset = snapshots were off for it
};

/// A document in all of its places: sums, and the times of the reading that was ready first.
struct DocumentReport {
  std::string name, digest;  ///< xxh3-128 of the bytes, hex
  int n_tokens = 0;          ///< of its first reading; 0 = unknown: no agent reads it
  /// As of a reading; "restored" or "computed" if any reading is, in this order.
  std::string source = "computed";
  int computed_tokens = 0;
  std::optional<double> prefill_ms, prefill_tokens_per_s, ready_ms;
  std::optional<SnapshotReport> snapshot{};  ///< of a reading that ends with it, if there is one
  int restored_tokens = 0;
  std::vector<DocumentReading> readings{};  ///< in the order in which agents of the file have them
};

struct Warning {
  std::string code, agent, pos, message, hint;
};

/// Where the engine thread's time went, over the run; seconds.
struct EngineCounters {
  double forward_s = 0, sample_s = 0, fork_s = 0, other_s = 0, idle_s = 0;
  std::uint64_t n_forwards = 0, n_decode_steps = 0, n_decode_rows = 0, n_forks = 0;
  std::uint64_t n_forward_tokens = 0;
  /// Of forward_s: working out for the grouped attention kernel what the tokens see of the cache.
  double mask_s = 0;
  std::uint64_t n_graphs_reused = 0;  ///< forwards that took the engine's graph of the one before
};

/// The whole story of one run. `to_json` gives the documented schema swarmkv.report/1.
struct RunReport {
  std::string run_id, name, status = "finished";
  int exit_code = 0;
  std::string started_at;  ///< UTC, ISO 8601
  std::vector<std::string> command;
  std::string model_path, model_name, model_fingerprint, quant, device;
  std::uint64_t n_params = 0;
  double load_ms = 0;
  int ctx_size = 0;
  std::string cache_type_k, cache_type_v, handoff = "shared", engine = "llama";
  std::string attention = "stock";  ///< the kernel on the CPU: grouped or stock
  std::string attention_note;       ///< with "auto": why not grouped, or for what not
  std::vector<DocumentReport> documents;
  std::vector<AgentReport> agents;  ///< file order

  double duration_ms = 0;
  int n_finished = 0, n_failed = 0, n_skipped = 0, n_cancelled = 0, n_truncated = 0;
  std::int64_t prompt_tokens = 0, prompt_tokens_computed = 0, prompt_tokens_reused = 0;
  std::int64_t completion_tokens = 0;
  Percentiles ttft_ms, tpot_ms, itl_ms, e2e_ms;
  EngineCounters counters;
  std::vector<std::string> critical_path;
  std::vector<double> critical_path_ms;  ///< duration of each element of critical_path
  int peak_kv_cells = 0;
  std::uint64_t peak_rss_bytes = 0;
  int peak_threads = 0;
  std::vector<Warning> warnings;
};

/// One JSON object, UTF-8, newline at the end. Numbers that are unknown are null.
SWARMKV_API std::string to_json(const RunReport& report);

/// What to_json wrote, read back. What the JSON does not hold stays unknown: when each token came,
/// token ids, and keys that are missing or of another type.
/// errors  kCorrupt      no JSON
///         kUnsupported  JSON of another schema
SWARMKV_API RunReport parse_report(std::string_view json);

/// The table of docs/metrics.md for people, ending in a newline. `color`: ANSI colours allowed.
SWARMKV_API std::string to_table(const RunReport& report, bool color);

/// The table, summary, warnings and answers as Markdown. Foreign text is escaped or fenced.
SWARMKV_API std::string to_markdown(const RunReport& report);

/// What text a spreadsheet would compute gets in front (=, +, -, @): an apostrophe, so that it is
/// shown as it is, or nothing, for programs.
enum class CsvText { kFormulaSafe, kVerbatim };

/// One line an agent under a header line, RFC 4180; times in ms, unknown = empty.
SWARMKV_API std::string to_csv(const RunReport& report, CsvText text = CsvText::kFormulaSafe);

/// One page that needs nothing else and no network: timeline, prefix tree, latencies, answers.
SWARMKV_API std::string to_html(const RunReport& report);

/// Chrome's trace event format, for ui.perfetto.dev or chrome://tracing: a track an agent and
/// document, every token an instant, the number of decoding agents a counter.
SWARMKV_API std::string to_trace(const RunReport& report);

/// Text that is safe to show on a terminal: control characters except newline and tab, and bytes
/// that are not UTF-8, become visible escapes. Model output, names and file contents are not
/// trusted (SECURITY.md).
SWARMKV_API std::string escape_for_terminal(std::string_view text);

/// The same, on one line and at most `columns` wide; what is cut off is marked with an ellipsis.
SWARMKV_API std::string fit_for_terminal(std::string_view text, std::size_t columns);

/// 80740352 -> "77.0 MiB".
SWARMKV_API std::string bytes_text(std::uint64_t n_bytes);

/// "restored 3,684 tokens from 5f0c.swkv (77.0 MiB, 0.21 s)", "rejected 5f0c.swkv: KV type of keys
/// q8_0, here f16", "not saved: too large". What is not known is left out. Not escaped.
SWARMKV_API std::string snapshot_text(const SnapshotFileReport& file);

}  // namespace swarmkv
