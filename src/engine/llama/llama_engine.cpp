#include "engine/llama_engine.h"

#include <exception>
#include <string>

#include "attention/grouped.h"
#include "base/build_info.h"
#include "engine/llama/attention_heads.h"
#include "engine/llama/batch_invariance.h"
#include "engine/llama/json_grammar.h"
#include "engine/llama/llama_log.h"
#include "engine/llama/llama_model.h"
#include "llama.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

// What llama.cpp refuses after read_gguf has found nothing wrong is well formed, and beyond it: an
// architecture or tokeniser it does not know, or tensors it expects and does not find.
[[noreturn]] void refuse_load(const std::string& path, const std::string& reason) {
  const bool memory = reason.find("alloc") != std::string::npos ||
                      reason.find("out of memory") != std::string::npos;
  throw Error(memory ? ErrorCode::kDoesNotFit : ErrorCode::kUnsupported,
              "[engine.load] llama.cpp cannot load '" + path + "': " + reason);
}

std::shared_ptr<const LoadedModel> load(const LlamaModelOptions& options) {
  auto loaded = std::make_shared<LoadedModel>();
  loaded->file = read_gguf(options.path);
  loaded->files = model_files(loaded->file);
  if (!options.vocab_only && loaded->file.n_tensors == 0) {
    throw Error(ErrorCode::kUnsupported,
                "[engine.load] '" + options.path + "' holds a vocabulary only, no weights");
  }
  start_runtime();
  loaded->log_sink = install_log_sink(options.log);
  loaded->vocab_only = options.vocab_only;

  llama_model_params params = llama_model_default_params();
  const bool can_offload = llama_supports_gpu_offload();
  params.vocab_only = options.vocab_only;
  params.n_gpu_layers = !can_offload ? 0 : options.n_gpu_layers;
  loaded->offloads = can_offload && options.n_gpu_layers != 0;
  if (!can_offload && options.n_gpu_layers > 0 && options.log) {
    options.log(GGML_LOG_LEVEL_WARN, "this build has no GPU support: all layers stay on the CPU\n");
  }
  (void)take_first_complaint();
  std::string reason;
  try {
    loaded->model.reset(llama_model_load_from_file(options.path.c_str(), params));
    if (!loaded->model) reason = take_first_complaint();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  if (!loaded->model) refuse_load(options.path, reason);
  loaded->vocab = llama_model_get_vocab(loaded->model.get());
  return loaded;
}

}  // namespace

std::shared_ptr<const Model> load_llama_model(const LlamaModelOptions& options) {
  return std::make_shared<const LlamaModel>(load(options));
}

std::optional<LlamaOutlook> llama_outlook(const std::string& path) {
  LlamaModelOptions options;
  options.path = path;
  options.n_gpu_layers = 0;
  options.vocab_only = true;
  try {
    const std::shared_ptr<const LoadedModel> loaded = load(options);
    const ModelInfo info = LlamaModel(loaded).info();
    if (!info.can_generate) return std::nullopt;
    ContextOptions deterministic;
    deterministic.deterministic = true;
    return LlamaOutlook{info.fork_kind, why_no_grouped_attention(loaded->file),
                        grouped_attention_targets().front(),
                        why_batch_dependent(*loaded, info.fork_kind, deterministic)};
  } catch (const Error&) {
    return std::nullopt;  // a model that cannot be loaded is not forked either
  }
}

void check_llama_schema(const std::string& schema) {
  start_runtime();  // else a grammar that is refused would be printed
  const JsonGrammar checked(nullptr, schema);
}

// llama.cpp knows its own commit only when built from a git checkout; our build always does.
std::string llama_version() {
  return std::string(::llama_version()) + " (" + std::string(build_info().llama_commit) + ")";
}

}  // namespace swarmkv::internal
