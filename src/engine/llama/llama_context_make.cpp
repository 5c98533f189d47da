// Making the runtime's context, with the grouped attention kernel in it where that is possible.
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "attention/self_test.h"
#include "engine/llama/attention_backend.h"
#include "engine/llama/batch_invariance.h"
#include "engine/llama/context_params.h"
#include "engine/llama/llama_context.h"
#include "engine/llama/llama_log.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

std::string in_deterministic_mode(const std::string& why) {
  return "deterministic mode, one agent at a time: " + why;
}

// What rules the kernel out before the runtime is asked. Empty: nothing.
std::string why_not_tried(const LoadedModel& model, ForkKind kind, const ContextOptions& options) {
  if (options.deterministic && options.attention == AttentionKernel::kAuto) {
    const std::string dependent = why_batch_dependent(model, kind, options);
    if (!dependent.empty()) return in_deterministic_mode(dependent);
  }
  if (options.flash_attention == FlashAttention::kOff) return "flash attention is off";
  if (model.offloads) return "layers may be on a GPU";
  if (options.type_k != KvType::kF16 || options.type_v != KvType::kF16) {
    return "the cache is not F16";
  }
  if (!register_attention_device()) return "this llama.cpp has another backend interface";
  return {};
}

// Tried once for a model: the arms of handoff/ make a context for every agent. Kept only when the
// attempt came to its end.
template <typename Outcomes, typename Try>
typename Outcomes::mapped_type tried_once(const LoadedModel& model, Outcomes& outcomes,
                                          const typename Outcomes::key_type& key, Try attempt) {
  const std::lock_guard lock(model.context_mutex);
  auto tried = outcomes.find(key);
  if (tried == outcomes.end()) tried = outcomes.emplace(key, attempt()).first;
  return tried->second;
}

double self_test_error(const LoadedModel& model, const AttentionShape& s,
                       const std::string& target) {
  return tried_once(
      model, model.attention_errors, {s.head_size, s.n_heads, s.n_kv_heads, target},
      [&] { return grouped_attention_error(s.head_size, s.n_heads, s.n_kv_heads, target); });
}

// After the runtime planned its graphs. Empty: the kernel is in use and computes right.
std::string why_not_usable(const LoadedModel& model, const AttentionHook& hook,
                           const ContextOptions& options) {
  if (hook.taken.empty()) {
    return hook.refused.empty() ? "llama.cpp asked for no flash attention" : hook.refused;
  }
  for (const AttentionShape& s : hook.taken) {
    const double error = self_test_error(model, s, options.attention_target);
    if (!(error <= options.most_attention_error)) {  // NaN too
      return "its self-test failed on this processor: error " + std::to_string(error);
    }
  }
  return {};
}

}  // namespace

// The runtime's complaint, or empty if there is a context now.
std::string LlamaContext::try_make(const llama_context_params& params) {
  (void)take_first_complaint();
  std::string reason;
  try {
    const std::lock_guard lock(model_->context_mutex);
    context_.reset(llama_init_from_model(model_->model.get(), params));
    if (!context_) reason = take_first_complaint();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  if (context_) return {};
  return reason.empty() ? "no reason given" : reason;
}

// Why the grouped kernel is not used, or empty if there is a context with it. There may be one
// without it.
std::string LlamaContext::try_grouped(const ContextOptions& options, llama_context_params params) {
  const std::string excluded = why_not_tried(*model_, kind_, options);
  if (!excluded.empty()) return excluded;
  // Left to itself, the runtime switches flash attention off when another device than a layer's
  // own would compute it.
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
  auto hook = std::make_shared<AttentionHook>(options.attention_target);
  hook->only_where_faster = options.attention == AttentionKernel::kAuto && !options.deterministic;
  const AttentionScope scope(hook);
  std::string reason = try_make(params);
  if (reason.empty()) reason = why_not_usable(*model_, *hook, options);
  if (reason.empty()) {
    hook->layouts.use_cache(memory());
    attention_hook_ = std::move(hook);
  } else if (!hook->taken.empty()) {
    // It would use the kernel. One whose device takes nothing is a context like any other.
    context_.reset();
  }
  return reason;
}

// What was planned, corrected by what was seen: the runtime may plan with one device and compute on
// another.
AttentionUse LlamaContext::attention() const {
  if (attention_hook_ != nullptr && has_forwarded_.load(std::memory_order_relaxed) &&
      !attention_hook_->was_used.load(std::memory_order_relaxed)) {
    return {"stock", "llama.cpp computed attention elsewhere"};
  }
  return attention_;
}

// A context with the grouped kernel, in deterministic mode: it is left to many agents at once, or
// else it was only worth having if somebody asked for it.
void LlamaContext::settle_invariance(const ModelInfo& info, const ContextOptions& options) {
  std::string found = why_batch_dependent(*model_, kind_, options);
  if (found.empty()) found = attention_hook_->refused;  // of some layers
  if (found.empty() && !attention_hook_->layouts.knows_positions()) {
    found = "llama.cpp does not tell where its cells are";
  }
  if (found.empty()) {
    found =
        tried_once(*model_, model_->batch_dependence,
                   {decode_threads(options), prefill_threads(options), options.attention_target},
                   [&] { return find_batch_dependence(*this, info.n_vocab); });
  }
  batch_invariant_ = found.empty();
  if (batch_invariant_) {  // so forwards of one row may have all threads
    llama_set_n_threads(context_.get(), decode_threads(options), prefill_threads(options));
  } else if (options.attention != AttentionKernel::kGrouped) {
    context_.reset();
    attention_hook_.reset();
    ContextOptions stock = options;
    stock.attention = AttentionKernel::kStock;
    make(stock);
    attention_ = {"stock", in_deterministic_mode(found)};
  }
}

void LlamaContext::make(const ContextOptions& options) {
  llama_context_params params = context_params(options);
  // A graph that stops half way leaves recurrent states unusable, and not only those of the batch:
  // the runtime moves states of other sequences to make room and copies them within the graph. So
  // on such models an abort is obeyed between forwards only, where nothing can break.
  if (kind_ != ForkKind::kRecurrent) {
    params.abort_callback = [](void* flag) {
      return static_cast<const std::atomic<bool>*>(flag)->load(std::memory_order_relaxed);
    };
    params.abort_callback_data = &abort_;
  }
  if (options.attention != AttentionKernel::kStock) {
    attention_.note = try_grouped(options, params);
    if (attention_.note.empty()) {
      attention_.kernel = "grouped";
    } else if (options.attention == AttentionKernel::kGrouped) {
      throw Error(ErrorCode::kUnsupported,
                  "[engine.make_context] no grouped attention: " + attention_.note);
    }
    if (context_) return;
  }
  const std::string reason = try_make(params);
  if (context_) return;
  const bool memory = reason.find("alloc") != std::string::npos;
  throw Error(memory ? ErrorCode::kDoesNotFit : ErrorCode::kUnsupported,
              "[engine.make_context] llama.cpp cannot make a context of " +
                  std::to_string(options.n_cells) + " cells: " + reason);
}

}  // namespace swarmkv::internal
