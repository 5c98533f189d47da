// Our context options in the runtime's terms, and the refusals that have to come before it sees
// them.
#pragma once

#include "engine/llama/llama_handle.h"
#include "engine/types.h"

namespace swarmkv::internal {

/// errors  kInvalidArgument  a number out of range, or settings that contradict each other
///         kUnsupported      the model or a KV type cannot do it
///         kDoesNotFit       the cache needs more memory than there is (both in MiB)
void check_context_options(const LoadedModel& model, const ModelInfo& info,
                           const ContextOptions& options);

/// For options that were checked. The caller adds the abort callback.
[[nodiscard]] llama_context_params context_params(const ContextOptions& options);

/// options.n_threads with its defaults filled in.
[[nodiscard]] int decode_threads(const ContextOptions& options);
[[nodiscard]] int prefill_threads(const ContextOptions& options);

}  // namespace swarmkv::internal
