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
  /// Results of the attention kernel's self-test, by head size, heads, KV heads and target; under
  /// the mutex.
  mutable std::map<std::tuple<int, int, int, std::string>, double> attention_errors;
  /// What the probe of batch_invariance.h found, by threads and target; under the mutex.
  mutable std::map<std::tuple<int, int, std::string>, std::string> batch_dependence;
};

}  // namespace swarmkv::internal
