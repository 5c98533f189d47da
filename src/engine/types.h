// Words shared by every engine: what a model is like, what a batch holds, what a forward answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "swarmkv/request.h"

namespace swarmkv::internal {

using Pos = std::int32_t;
using SeqId = std::int32_t;
inline constexpr SeqId kNoSeq = -1;

/// Where a sequence may be forked (docs/architecture.md, "Model kinds").
enum class ForkKind {
  kFull,       ///< full attention: at any k <= end of the source
  kWindow,     ///< sliding window: where the window before k is still resident; checked at run time
  kRecurrent,  ///< recurrent and hybrid: only at the source's very end
};

struct ModelInfo {
  std::string path, name, arch, quant;  ///< quant: for example "Q4_1"
  std::uint64_t size_bytes = 0, n_params = 0;
  int n_vocab = 0;
  int n_ctx_train = 0;
  int n_layers = 0;
  int n_swa = 0;  ///< window in tokens, 0 = none
  ForkKind fork_kind = ForkKind::kFull;
  bool has_chat_template = false;
  bool can_generate = true;  ///< false: embedding-only or encoder model
  std::uint64_t kv_bytes_per_token =
      0;                    ///< at the context's KV types (f16 before a context exists)
  std::string fingerprint;  ///< Model::fingerprint() where that costs nothing, else empty
};

enum class KvType { kF32, kF16, kBF16, kQ8_0, kQ5_1, kQ5_0, kQ4_1, kQ4_0 };
enum class FlashAttention { kAuto, kOn, kOff };

/// Who computes attention on the CPU. kGrouped: src/attention, or an error; kStock: the runtime's
/// own kernels; kAuto: grouped where it can, and in deterministic mode where nothing else depends
/// on the batch.
enum class AttentionKernel { kAuto, kGrouped, kStock };

/// Which kernel a context uses, and why not the grouped one.
struct AttentionUse {
  std::string kernel = "stock";  ///< "grouped" or "stock"
  std::string note;              ///< empty for "grouped", and for "stock" where it was asked for
};

struct ContextOptions {
  int n_cells = 4096;       ///< total of the unified pool; engines may round up
  int n_seq_max = 16;       ///< sequence ids [0, n_seq_max), at most 256
  int n_batch = 512;        ///< most tokens in one forward (= one ubatch)
  int n_threads = 0;        ///< decode; 0 = physical cores
  int n_threads_batch = 0;  ///< prefill; 0 = n_threads
  KvType type_k = KvType::kF16, type_v = KvType::kF16;
  FlashAttention flash_attention = FlashAttention::kAuto;
  bool deterministic = false;  ///< flash attention on, one thread for single-row forwards
  AttentionKernel attention = AttentionKernel::kAuto;
  double most_attention_error = 1e-9;  ///< of the kernel's self-test; tests make it fail
  /// Times that our kernel may take of the runtime's for many tokens, with kAuto: a race on a busy
  /// machine is not that exact. Tests force it.
  double most_attention_slowness = 1.0;
  std::string attention_target{};  ///< instructions of the grouped kernel; empty = the best
};

/// One token of a batch. `logits`: this row's output is wanted.
struct BatchToken {
  Token token;
  Pos pos;
  SeqId seq;
  bool logits;
};
using Batch = std::vector<BatchToken>;

/// What a forward did, already mapped from the engine's own codes (engine/llama/decode_status.h).
enum class ForwardStatus {
  kOk,        ///< cache advanced, logits rows valid until the next forward
  kNoSlot,    ///< no free cells for the batch; cache as before
  kAborted,   ///< abort() was called; nothing of the batch stays (full, window); recurrent: drop
              ///< touched sequences
  kBadBatch,  ///< refused as malformed; cache as before: a bug of ours
  kFatal,     ///< the engine failed; re-read positions of what was touched
};

/// What one forward may hold.
struct BatchLimits {
  int n_tokens = 512;
  bool equal_lengths = false;    ///< every sequence in a batch must have the same number of tokens
  bool consecutive_ids = false;  ///< the sequence ids in a batch must be consecutive
};

}  // namespace swarmkv::internal
