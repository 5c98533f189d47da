#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "swarmkv/event.h"
#include "swarmkv/export.h"
#include "swarmkv/pipeline.h"
#include "swarmkv/plan.h"
#include "swarmkv/report.h"
#include "swarmkv/request.h"

namespace swarmkv {

struct ModelOptions {
  std::string path{};  ///< GGUF file; ignored by the fake engine
  std::string engine =
      "llama";  ///< "llama" or "fake" (exact, deterministic, instant; for tests and tries)
  int n_gpu_layers = -1;    ///< -1 = auto
  bool vocab_only = false;  ///< enough for tokenising and planning
  /// The runtime's log lines; process-wide, default silent. Levels are the runtime's own: 1 debug,
  /// 2 info, 3 warning, 4 error, 5 goes on with the message before it. From any thread.
  std::function<void(int level, std::string_view text)> log{};

  // Only for the fake engine; 0 = its default.
  std::vector<std::pair<std::string, std::string>>
      fake_answers{};            ///< (text in the prompt, answer to give)
  int fake_delay_ms = 0;         ///< of each forward
  int fake_ctx_train = 0;        ///< training context
  int fake_cells_limit = 0;      ///< most cells a context gets, whatever is asked for
  int fake_fail_at_forward = 0;  ///< that forward fails for good; 1 = the first
};

struct ModelDescription {
  std::string path, name, arch, quant, fork_kind, fingerprint, device;
  /// Expected of an engine with default options (inspect_model only, else empty): who computes
  /// attention, and how agents run with EngineOptions::deterministic.
  std::string attention, deterministic;
  std::uint64_t size_bytes = 0, n_params = 0, kv_bytes_per_token = 0;
  int n_vocab = 0, n_ctx_train = 0, n_layers = 0, n_window = 0;
  bool has_chat_template = false;
};

/// A loaded model: immutable, thread-safe, cheap to copy (shared).
class SWARMKV_API Model {
 public:
  /// errors  kUnreadable, kCorrupt, kUnsupported (embedding-only, unknown architecture, no llama in
  /// this build)
  static Model load(const ModelOptions& options);

  [[nodiscard]] ModelDescription describe() const;
  [[nodiscard]] double load_ms() const;
  /// Ids of plain text; markers in it stay plain text, no start token is added.
  [[nodiscard]] Tokens tokenize(std::string_view text) const;

  struct Impl;
  explicit Model(std::shared_ptr<const Impl> impl);
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

/// Which JSON Schemas this engine can bind answers to, found out without a model: for load_pipeline
/// and validate. make_plan and Engine::run check it, too.
/// errors  kInvalidArgument  no such engine
SWARMKV_API SchemaCheck schema_check(const std::string& engine = "llama");

struct EngineOptions {
  int ctx_size = 0;  ///< cells of the pool, one total shared by all agents; 0 = what a plan needs,
                     ///< bounded by memory
  int parallel = 0;  ///< most agents in one batch; 0 = as many as there are, at most 240
  int batch_size = 512;   ///< token budget of one forward
  int threads = 0;        ///< decode; 0 = physical cores
  int threads_batch = 0;  ///< prefill; 0 = threads
  std::string cache_type_k = "f16", cache_type_v = "f16";
  std::string flash_attn = "auto";  ///< on, off, auto
  /// Who computes attention on the CPU: "grouped" (ours, for many agents over one document; an
  /// error where it cannot), "stock" (llama.cpp's), "auto" (grouped where it can).
  /// RunReport::attention says which it was.
  std::string attention = "auto";
  /// Instructions that the grouped kernel is held to: "AVX3" (AVX-512), "AVX2", "SSE4", ...; empty
  /// = the best of this processor. To measure what a smaller one would do; an error where the
  /// processor does not have them, and with attention "stock".
  std::string attention_target{};
  /// Same token ids whoever else runs (docs/determinism.md). As fast as without it on some models,
  /// on the others agents run one at a time.
  bool deterministic = false;
  int function_threads = 4;  ///< pool for function nodes
  /// How agents come to the document: "shared" (one cache, one batch). To compare with it, each
  /// agent alone: "recompute" (computes the document itself), "snapshot" (restores a copy into a
  /// fresh context), "device" (restores a copy kept on the device).
  std::string handoff = "shared";
};

/// How a run uses snapshots (docs/snapshot_format.md). Only with handoff "shared".
struct SnapshotOptions {
  /// For documents that do not say it themselves: "off", "auto" or a file.
  std::string use = "off";
  std::string folder{};  ///< of the store; empty = SnapshotStore::default_folder()
  std::uint64_t limit_bytes = std::uint64_t{20} << 30;  ///< of the store
  bool always_save = false;  ///< "auto" saves even where reading is slower than computing
  std::chrono::milliseconds save_timeout{30'000};  ///< how long the run's end waits for the writer
};

struct RunOptions {
  bool use_chat_template = true;
  std::string template_date = "2026-01-01";  ///< the chat template's clock
  bool fail_fast = false;                    ///< first failure cancels the rest
  bool strict = false;                       ///< warnings about input become errors
  std::chrono::milliseconds timeout{0};      ///< of the whole run; 0 = none
  SnapshotOptions snapshot;
  std::vector<std::shared_ptr<Observer>> observers;
};

/// A submitted request. Move-only; dropping it cancels without waiting. Thread-safe.
class SWARMKV_API RequestHandle {
 public:
  struct Impl;
  explicit RequestHandle(std::shared_ptr<Impl> impl);
  RequestHandle(RequestHandle&&) noexcept;
  RequestHandle& operator=(RequestHandle&&) noexcept;
  ~RequestHandle();

  void cancel();
  /// Blocks until finished, failed or cancelled and its last event was delivered.
  Result wait();
  [[nodiscard]] bool wait_for(std::chrono::milliseconds limit);

 private:
  std::shared_ptr<Impl> impl_;
};

/// A pipeline in progress. Move-only; dropping it cancels and joins (bounded by one forward and by
/// its observers, who hear of its end). Thread-safe.
class SWARMKV_API Run {
 public:
  struct Impl;
  explicit Run(std::unique_ptr<Impl> impl);
  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;
  ~Run();

  /// Stops what is unfinished; finished answers stay in the report, `reason` becomes the error of
  /// the others.
  void cancel(std::string reason = "cancelled");
  /// Blocks until every agent is finished, failed, skipped or cancelled and the last event was
  /// delivered.
  /// errors  kInvalidArgument  called by an observer of this very run
  RunReport wait();
  [[nodiscard]] bool wait_for(std::chrono::milliseconds limit);

 private:
  std::unique_ptr<Impl> impl_;
};

/// One KV cache, one engine thread, any number of concurrent requests and runs. Thread-safe,
/// move-only. The destructor cancels everything and joins within one forward, unless an observer or
/// a callback blocks.
class SWARMKV_API Engine {
 public:
  /// errors  kInvalidArgument, kUnsupported, kDoesNotFit (memory)
  Engine(const Model& model, const EngineOptions& options);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  /// On a thread for these callbacks, one call at a time, no lock held: one that blocks delays
  /// other callbacks, but no run. One that throws is not called again.
  using TextCallback = std::function<void(std::string_view)>;

  /// errors  kInvalidArgument  bad sampling, no token at all, negative max_tokens
  ///         kDoesNotFit       exceeds the empty pool or the training context (needed and available
  ///         in the message), or no thread for the callback
  [[nodiscard]] RequestHandle submit(Request request, TextCallback on_text = {});

  /// Starts a pipeline; returns at once. The pipeline must be valid (`validate`).
  /// errors  kInvalidArgument, kUnreadable (documents), kUnsupported (template), kDoesNotFit
  [[nodiscard]] Run run(const Pipeline& pipeline, const RunOptions& options = {});

  /// The same for a pipeline that was planned for this engine's model; the prompt format is the
  /// plan's, whatever `options` says.
  /// errors  kInvalidArgument (another model's plan), kDoesNotFit
  [[nodiscard]] Run run(const Plan& plan, const RunOptions& options = {});

  [[nodiscard]] int ctx_size() const;
  [[nodiscard]] EngineCounters counters() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// Reads the documents, counts tokens and chooses the pool's size. Loads nothing but what `model`
/// has. errors  kUnreadable, kUnsupported (binary format), kDoesNotFit (document and largest branch
/// against the context)
SWARMKV_API Plan make_plan(const Model& model, const Pipeline& pipeline,
                           const EngineOptions& engine, const RunOptions& run = {});

/// The same to look at: what does not fit stands in Plan::misfit, and the rest is told all the
/// same. A model with its vocabulary alone will do. errors  kUnreadable, kUnsupported
SWARMKV_API Plan draft_plan(const Model& model, const Pipeline& pipeline,
                            const EngineOptions& engine, const RunOptions& run = {});

SWARMKV_API const char* version() noexcept;
SWARMKV_API std::string llama_version();

/// A GGUF file's description without loading it (`swarmkv inspect`).
/// errors  kUnreadable, kCorrupt
SWARMKV_API ModelDescription inspect_model(const std::string& path);

}  // namespace swarmkv
