// Whether forwards of a model can be independent of what else they hold.
//
// Two things decide it on a CPU. Attention: the grouped kernel is (attention/grouped.h), the
// runtime's own is not. Matrix products: the runtime has, for some types, one kernel for a few rows
// and another for many, or repacked weights; for others every element is one dot product in one
// order whatever the batch. All else in a forward works row by row.
#pragma once

#include <string>

#include "engine/context.h"
#include "engine/llama/llama_handle.h"

namespace swarmkv::internal {

/// Empty if what is known of the file, the processor and the options promises it, else why not.
[[nodiscard]] std::string why_batch_dependent(const LoadedModel& model, ForkKind kind,
                                              const ContextOptions& options);

/// Tries it: the same tokens in one forward, one by one, and beside others. Empty if all logits are
/// the same bits, else what changed them. in  an empty cache, which is empty again afterwards
/// cost  some 90 tokens in 20 forwards
[[nodiscard]] std::string find_batch_dependence(Context& context, int n_vocab);

}  // namespace swarmkv::internal
