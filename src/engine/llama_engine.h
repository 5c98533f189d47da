// The way in to the llama.cpp engine. Names nothing of llama.cpp, so that it serves builds with and
// without it; without it all functions exist and say so (llama_off/).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/model.h"

namespace swarmkv::internal {

struct LlamaModelOptions {
  std::string path;
  int n_gpu_layers = -1;    ///< negative = auto: all if offload is built in, else none
  bool vocab_only = false;  ///< no weights: tokenise, render and inspect, but no context

  /// Gets the runtime's messages (level 1 debug .. 4 error) from any thread, until the model and
  /// its contexts are gone. The runtime has one log for the whole process: of several models that
  /// carry a sink the youngest one's is called. Without a sink nothing is printed.
  std::function<void(int level, std::string_view text)> log;
};

/// errors  kUnreadable, kCorrupt (damaged or no GGUF file), kUnsupported (this runtime cannot run
/// it),
///         kDoesNotFit (memory), kInvalidArgument
[[nodiscard]] std::shared_ptr<const Model> load_llama_model(const LlamaModelOptions& options);

/// What the runtime and the kernels make of a model, told without its weights.
struct LlamaOutlook {
  ForkKind fork_kind = ForkKind::kFull;  ///< by the runtime's word: the file itself does not say it
  std::string why_not_grouped;           ///< attention with default options; empty: it is
  std::string grouped_target;            ///< the instructions it then uses
  std::string why_not_batch_invariant;   ///< in deterministic mode; empty: it is
};

/// Reads the vocabulary, no weights. Nothing if this build cannot run the model.
[[nodiscard]] std::optional<LlamaOutlook> llama_outlook(const std::string& path);

/// Whether answers can be bound to this JSON Schema; needs no model. A build without the runtime
/// takes every schema. errors  kInvalidArgument  it cannot become a grammar
void check_llama_schema(const std::string& schema);

/// Version and commit of the llama.cpp that is linked in, for example "0.5.0-dev (0c1e570)".
[[nodiscard]] std::string llama_version();

}  // namespace swarmkv::internal
