// Which of the two attention kernels a context gets: ours, the runtime's, or each for some batches.
#pragma once

#include <mutex>
#include <string>

#include "attention/attention.h"
#include "engine/context.h"
#include "engine/llama/attention_backend.h"
#include "engine/llama/llama_handle.h"

namespace swarmkv::internal {

/// As a note says it: what keeps the mode from its batched way.
[[nodiscard]] std::string in_deterministic_mode(const std::string& why);

/// What rules our kernel out before the runtime is asked. Empty: nothing.
[[nodiscard]] std::string why_not_tried(const LoadedModel& model, ForkKind kind,
                                        const ContextOptions& options);

/// After the runtime planned its graphs. Empty: our kernel is in use and computes right.
[[nodiscard]] std::string why_not_usable(const LoadedModel& model, const AttentionHook& hook,
                                         const ContextOptions& options);

/// Of batches of many tokens. Empty: our kernel is the faster one here.
[[nodiscard]] std::string why_left_to_runtime(const LoadedModel& model, const AttentionShape& heads,
                                              const ContextOptions& options);

/// The same of a hook's layers, of all sizes of heads. Empty: nothing is left.
[[nodiscard]] std::string what_is_left(const AttentionHook& hook);

/// What `attempt` gives, tried once for a model and key: the arms of handoff/ make a context for
/// every agent. Kept only when the attempt came to its end. Others wait for it meanwhile, so an
/// attempt must not try anything itself.
template <typename Outcomes, typename Try>
typename Outcomes::mapped_type tried_once(const LoadedModel& model, Outcomes& outcomes,
                                          const typename Outcomes::key_type& key, Try attempt) {
  const std::lock_guard lock(model.outcomes_mutex);
  auto tried = outcomes.find(key);
  if (tried == outcomes.end()) tried = outcomes.emplace(key, attempt()).first;
  return tried->second;
}

}  // namespace swarmkv::internal
