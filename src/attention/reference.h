// Attention as its formula says it, one row after another in double precision: what kernels are
// compared with, in tests and when a program starts.
#pragma once

#include "attention/attention.h"

namespace swarmkv::internal {

void reference_attention(const AttentionShape& shape, const AttentionTensors& tensors);

}  // namespace swarmkv::internal
