#include "engine/llama/context_params.h"

#include <algorithm>
#include <string>
#include <thread>

#include "attention/grouped.h"
#include "base/host_memory.h"
#include "common.h"
#include "engine/kv_bytes.h"
#include "engine/llama/attention_heads.h"
#include "engine/llama/kv_types.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

constexpr int kMostSequences = 256;  // LLAMA_MAX_SEQ, which the public header does not name
constexpr int kMostThreads = GGML_MAX_N_THREADS;
constexpr int kMostCells = 1 << 30;
constexpr int kCellStep = 256;  // the runtime rounds the pool up to this
constexpr std::uint64_t kMiB = 1024 * 1024;

[[noreturn]] void refuse(ErrorCode code, const std::string& what) {
  throw Error(code, "[engine.make_context] " + what);
}

void check_range(const char* name, int value, int least, int most) {
  if (value >= least && value <= most) return;
  refuse(ErrorCode::kInvalidArgument, std::string(name) + " must be in [" + std::to_string(least) +
                                          ", " + std::to_string(most) + "], got " +
                                          std::to_string(value));
}

std::uint32_t rounded_cells(int n_cells) {
  return static_cast<std::uint32_t>((n_cells + kCellStep - 1) / kCellStep * kCellStep);
}

// What the grouped kernel works in, if it is used: up to 256 bytes a cell and thread.
std::uint64_t attention_bytes(const GgufInfo& file, const ContextOptions& options) {
  if (options.attention == AttentionKernel::kStock || !why_no_grouped_attention(file).empty()) {
    return 0;
  }
  AttentionShape most = announced_heads(file);
  most.n_tokens = std::max(options.n_batch, options.n_seq_max);
  most.n_cells = options.n_cells;
  return GroupedAttention(options.attention_target).most_bytes(most, prefill_threads(options));
}

void check_memory(const LoadedModel& model, const ModelInfo& info, const ContextOptions& options) {
  if (model.offloads) return;  // device memory: the runtime answers for it
  const std::uint64_t cell =
      kv_cell_bytes(model.file, info.fork_kind, options.type_k, options.type_v);
  const std::uint64_t logits = static_cast<std::uint64_t>(options.n_seq_max) *
                               static_cast<std::uint64_t>(info.n_vocab) * sizeof(float);
  const std::uint64_t needed =
      cell * rounded_cells(options.n_cells) + logits + attention_bytes(model.file, options);
  const auto available = available_host_memory();
  if (!available || needed <= *available) return;
  refuse(ErrorCode::kDoesNotFit,
         "a KV cache of " + std::to_string(options.n_cells) + " cells needs " +
             std::to_string(needed / kMiB) +
             " MiB with its logit rows and the room of the attention kernel, " +
             std::to_string(*available / kMiB) + " MiB are available");
}

int physical_cores() {
  const int cores = common_cpu_get_num_physical_cores();
  // The affinity mask and containers show in this number, not in the topology.
  const int usable = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(usable > 0 ? std::min(cores, usable) : cores, 1, kMostThreads);
}

// Not every llama.cpp has the field; the pinned one ends the process if it is below n_seq_max.
template <typename Params>
void set_most_outputs(Params& params, std::uint32_t n) {
  if constexpr (requires { params.n_outputs_max; }) params.n_outputs_max = n;
}

}  // namespace

void check_context_options(const LoadedModel& model, const ModelInfo& info,
                           const ContextOptions& options) {
  if (model.vocab_only) {
    refuse(ErrorCode::kUnsupported, "'" + info.path + "' was loaded without its weights");
  }
  if (!info.can_generate) {
    refuse(ErrorCode::kUnsupported,
           "'" + info.path + "' (" + info.arch + ") is an embedding or encoder model: no text");
  }
  check_range("the number of cells", options.n_cells, 1, kMostCells);
  check_range("the number of sequences", options.n_seq_max, 1, kMostSequences);
  check_range("the batch size", options.n_batch, 1, kMostCells);
  check_range("the number of threads", options.n_threads, 0, kMostThreads);
  check_range("the number of prefill threads", options.n_threads_batch, 0, kMostThreads);
  if (options.flash_attention == FlashAttention::kOff) {
    if (options.deterministic) {
      refuse(ErrorCode::kInvalidArgument,
             "deterministic mode needs flash attention, which is switched off");
    }
    if (is_quantized(options.type_v)) {
      refuse(ErrorCode::kUnsupported, std::string("a quantised V cache (") +
                                          ggml_type_name(kv_ggml_type(options.type_v)) +
                                          ") needs flash attention, which is switched off");
    }
  }
  check_memory(model, info, options);
}

llama_context_params context_params(const ContextOptions& options) {
  llama_context_params params = llama_context_default_params();
  const auto n_seq_max = static_cast<std::uint32_t>(options.n_seq_max);
  params.kv_unified = true;  // one pool, so that a fork is metadata and any range can be forked
  params.swa_full = true;    // else shared window cells are never recycled and the pool deadlocks
  params.n_ctx = rounded_cells(options.n_cells);
  // One forward = one ubatch, so that it is all or nothing. A step of n_seq_max rows has to fit.
  params.n_batch = std::max(static_cast<std::uint32_t>(options.n_batch), n_seq_max);
  params.n_ubatch = params.n_batch;
  params.n_seq_max = n_seq_max;
  set_most_outputs(params, n_seq_max);
  // The runtime calls a forward of one row "decode" and every other one "batch": decoding several
  // agents at once uses the batch threads.
  params.n_threads = options.deterministic ? 1 : decode_threads(options);
  params.n_threads_batch = prefill_threads(options);
  params.type_k = kv_ggml_type(options.type_k);
  params.type_v = kv_ggml_type(options.type_v);
  params.flash_attn_type =
      options.deterministic                              ? LLAMA_FLASH_ATTN_TYPE_ENABLED
      : options.flash_attention == FlashAttention::kAuto ? LLAMA_FLASH_ATTN_TYPE_AUTO
      : options.flash_attention == FlashAttention::kOn   ? LLAMA_FLASH_ATTN_TYPE_ENABLED
                                                         : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.embeddings = false;
  params.no_perf = true;
  return params;
}

int decode_threads(const ContextOptions& options) {
  return options.n_threads > 0 ? options.n_threads : physical_cores();
}

int prefill_threads(const ContextOptions& options) {
  return options.n_threads_batch > 0 ? options.n_threads_batch : decode_threads(options);
}

}  // namespace swarmkv::internal
