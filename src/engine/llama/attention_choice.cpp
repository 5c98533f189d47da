#include "engine/llama/attention_choice.h"

#include <fmt/format.h>

#include "attention/self_test.h"
#include "base/cache_folder.h"
#include "engine/llama/attention_speed.h"
#include "engine/llama/batch_invariance.h"
#include "engine/llama/context_params.h"

namespace swarmkv::internal {
namespace {

double self_test_error(const LoadedModel& model, const AttentionShape& s,
                       const std::string& target) {
  return tried_once(
      model, model.attention_errors, {s.head_size, s.n_heads, s.n_kv_heads, target},
      [&] { return grouped_attention_error(s.head_size, s.n_heads, s.n_kv_heads, target); });
}

AttentionSpeed speed_of(const LoadedModel& model, const AttentionShape& s,
                        const std::string& target, int n_threads) {
  return tried_once(model, model.attention_speeds,
                    {s.head_size, s.n_heads, s.n_kv_heads, n_threads, target}, [&] {
                      const std::string cache = cache_folder();
                      return known_attention_speed(s, target, n_threads,
                                                   cache.empty() ? "" : cache + "/attention");
                    });
}

}  // namespace

std::string in_deterministic_mode(const std::string& why) {
  return "deterministic mode, one agent at a time: " + why;
}

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

std::string why_left_to_runtime(const LoadedModel& model, const AttentionShape& heads,
                                const ContextOptions& options) {
  const AttentionSpeed speed =
      speed_of(model, heads, options.attention_target, prefill_threads(options));
  if (speed.grouped_ms <= options.most_attention_slowness * speed.stock_ms) return {};
  return fmt::format(
      "{} tokens and more by llama.cpp, which was faster here: {:.3g} ms against {:.3g}",
      kTokensOfTiledKernel, speed.stock_ms, speed.grouped_ms);
}

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

std::string what_is_left(const AttentionHook& hook) {
  std::string note;
  for (const auto& [heads, why] : hook.left) {
    if (why.empty()) continue;
    if (!note.empty()) note += "; ";
    if (hook.left.size() > 1) note += fmt::format("heads of {}: ", std::get<0>(heads));
    note += why;
  }
  return note;
}

}  // namespace swarmkv::internal
