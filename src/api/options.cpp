#include "api/options.h"

#include <algorithm>

#include "attention/grouped.h"
#include "base/kv_type_names.h"
#include "handoff/handoff.h"

namespace swarmkv::internal {
namespace {

constexpr int kMostSeqs = 256;      // llama.cpp's own limit per context
constexpr int kHolders = 16;        // ids kept for shared prefixes
constexpr int kMostRecurrent = 64;  // every sequence of a recurrent model has a state of full size

void require_range(const char* option, int value, int low, int high) {
  if (value >= low && value <= high) return;
  throw Error(ErrorCode::kInvalidArgument, std::string("[engine.options] ") + option + " is " +
                                               std::to_string(value) + ", must be " +
                                               std::to_string(low) + " to " + std::to_string(high));
}

void require_target(const EngineOptions& options) {
  const std::string& target = options.attention_target;
  if (target.empty()) return;
  if (options.attention == "stock") {
    throw Error(ErrorCode::kInvalidArgument, "[engine.options] attention_target is '" + target +
                                                 "', but attention is stock, which has none");
  }
  std::string known;
  for (const std::string& name : grouped_attention_targets()) {
    if (name == target) return;
    known += (known.empty() ? "" : ", ") + name;
  }
  throw Error(ErrorCode::kInvalidArgument, "[engine.options] attention_target is '" + target +
                                               "', must be one of this processor's: " + known);
}

}  // namespace

KvType kv_type(const std::string& name, const char* option) {
  std::string known;
  for (std::size_t i = 0; i < kKvTypeNames.size(); ++i) {
    if (name == kKvTypeNames[i]) return static_cast<KvType>(i);
    known += std::string(known.empty() ? "" : ", ") + kKvTypeNames[i];
  }
  throw Error(ErrorCode::kInvalidArgument, std::string("[engine.options] ") + option + " is '" +
                                               name + "', must be one of " + known);
}

int parallel_limit(const EngineOptions& options, const ModelInfo& model) {
  require_range("parallel", options.parallel, 0, kMostSeqs - kHolders);
  if (options.parallel > 0) return options.parallel;
  return model.fork_kind == ForkKind::kRecurrent ? kMostRecurrent : kMostSeqs - kHolders;
}

bool runs_together(const EngineOptions& options, const Model& model) {
  if (handoff_named(options.handoff) != Handoff::kShared) return false;
  if (!options.deterministic) return true;
  constexpr int kAnyCells = 1;
  return model.why_not_batch_invariant(context_options(options, model.info(), kAnyCells)).empty();
}

int n_seq_max_for(int parallel) { return std::clamp(parallel + kHolders, kHolders, kMostSeqs); }

ContextOptions context_options(const EngineOptions& options, const ModelInfo& model, int n_cells) {
  require_range("batch_size", options.batch_size, 1, 1 << 16);
  require_range("threads", options.threads, 0, 1024);
  require_range("threads_batch", options.threads_batch, 0, 1024);
  require_range("ctx_size", n_cells, 1, 1 << 30);
  ContextOptions out;
  out.n_cells = n_cells;
  out.n_seq_max = n_seq_max_for(parallel_limit(options, model));
  out.n_batch = std::max(options.batch_size, out.n_seq_max);
  out.n_threads = options.threads;
  out.n_threads_batch = options.threads_batch;
  out.type_k = kv_type(options.cache_type_k, "cache_type_k");
  out.type_v = kv_type(options.cache_type_v, "cache_type_v");
  if (options.flash_attn == "on") {
    out.flash_attention = FlashAttention::kOn;
  } else if (options.flash_attn == "off") {
    out.flash_attention = FlashAttention::kOff;
  } else if (options.flash_attn != "auto") {
    throw Error(ErrorCode::kInvalidArgument, "[engine.options] flash_attn is '" +
                                                 options.flash_attn + "', must be on, off or auto");
  }
  if (options.attention == "grouped") {
    out.attention = AttentionKernel::kGrouped;
  } else if (options.attention == "stock") {
    out.attention = AttentionKernel::kStock;
  } else if (options.attention != "auto") {
    throw Error(ErrorCode::kInvalidArgument, "[engine.options] attention is '" + options.attention +
                                                 "', must be auto, grouped or stock");
  }
  require_target(options);
  out.attention_target = options.attention_target;
  if (options.deterministic && options.flash_attn == "off") {
    throw Error(ErrorCode::kInvalidArgument,
                "[engine.options] deterministic needs flash attention, flash_attn is off");
  }
  out.deterministic = options.deterministic;
  return out;
}

}  // namespace swarmkv::internal
