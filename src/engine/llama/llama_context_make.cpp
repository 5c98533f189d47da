// Making the runtime's context, with the grouped attention kernel in it where that is possible.
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "engine/llama/attention_backend.h"
#include "engine/llama/attention_choice.h"
#include "engine/llama/batch_invariance.h"
#include "engine/llama/context_params.h"
#include "engine/llama/llama_context.h"
#include "engine/llama/llama_log.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {

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
  if (options.attention == AttentionKernel::kAuto && !options.deterministic) {
    hook->why_leave_many_tokens = [model = model_, options](const AttentionShape& heads) {
      return why_left_to_runtime(*model, heads, options);
    };
  }
  const AttentionScope scope(hook);
  std::string reason = try_make(params);
  if (reason.empty()) reason = why_not_usable(*model_, *hook, options);
  if (reason.empty()) {
    hook->layouts.use_cache(memory());
    attention_hook_ = std::move(hook);
  } else {
    // Graphs that are planned with the kernel are gone with the context. One whose device takes
    // nothing is a context like any other.
    if (!hook->taken.empty()) context_.reset();
    hook->is_off = true;
  }
  return reason;
}

// What was planned, corrected by what was seen: the runtime may plan with one device and compute on
// another.
AttentionUse LlamaContext::attention() const {
  // With something left to the runtime, all forwards so far may have been of that kind.
  if (attention_hook_ != nullptr && attention_.note.empty() &&
      has_forwarded_.load(std::memory_order_relaxed) &&
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
  } else {
    attention_.note = in_deterministic_mode(found);
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
      attention_.note = what_is_left(*attention_hook_);
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
