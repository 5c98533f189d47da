// The preconditions of Context::forward, checked before a runtime sees the batch: on some of them
// it would end the process, on others it would answer nonsense without a word.
#pragma once

#include <functional>
#include <vector>

#include "engine/types.h"

namespace swarmkv::internal {

struct BatchRules {
  BatchLimits limits;
  int n_seq_max = 0;
  int n_outputs_max = 0;  ///< rows with `logits`
  int n_vocab = 0;
};

/// A sequence that a batch extends.
struct TouchedSeq {
  SeqId seq;
  Pos length;    ///< before the batch
  int n_tokens;  ///< of the batch
};

/// The sequences of the batch in order of first appearance. `length` answers what a sequence holds.
/// errors  kInvalidArgument  empty, too long, too many outputs, token or id out of range, a
/// position that does not
///                           continue its sequence, lengths or ids that would not fit into one
///                           ubatch
[[nodiscard]] std::vector<TouchedSeq> check_batch(const Batch& batch, const BatchRules& rules,
                                                  const std::function<Pos(SeqId)>& length);

}  // namespace swarmkv::internal
