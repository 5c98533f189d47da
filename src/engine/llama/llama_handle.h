// Owners of what the runtime hands out.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "engine/fingerprint.h"
#include "engine/gguf.h"
#include "engine/llama/attention_speed.h"
#include "llama.h"

namespace swarmkv::internal {

struct LlamaDeleter {
  void operator()(llama_model* model) const { llama_model_free(model); }
  void operator()(llama_context* context) const { llama_free(context); }
  void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
};

using LlamaModelPtr = std::unique_ptr<llama_model, LlamaDeleter>;
using LlamaContextPtr = std::unique_ptr<llama_context, LlamaDeleter>;
using LlamaSamplerPtr = std::unique_ptr<llama_sampler, LlamaDeleter>;

/// A loaded model, kept alive by the Model, its contexts and its samplers alike: callers may drop
/// them in any order.
struct LoadedModel {
  std::shared_ptr<const void> log_sink;  ///< first, so that it outlives the model's own messages
  GgufInfo file;
  std::vector<ModelFile> files;  ///< as they were before the runtime read them
  LlamaModelPtr model;
  const llama_vocab* vocab = nullptr;
  bool vocab_only = false;
  bool offloads = false;             ///< some layers may live in device memory
  mutable std::mutex context_mutex;  ///< making a context writes into the model (YaRN)

  /// What was tried on this machine, once for each key. A mutex of its own: some of it is tried
  /// while a context is made.
  mutable std::mutex outcomes_mutex;
  /// Errors of the attention kernel's self-test, by head size, heads, KV heads and target.
  mutable std::map<std::tuple<int, int, int, std::string>, double> attention_errors;
  /// Races of attention_speed.h, by head size, heads, KV heads, threads and target.
  mutable std::map<std::tuple<int, int, int, int, std::string>, AttentionSpeed> attention_speeds;
  /// What the probe of batch_invariance.h found, by threads and target.
  mutable std::map<std::tuple<int, int, std::string>, std::string> batch_dependence;
};

}  // namespace swarmkv::internal
