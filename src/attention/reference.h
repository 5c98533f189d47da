// Attention as its formula says it, one row after another in double precision: what kernels are
// compared with, in tests and when a program starts.
#pragma once

#include <span>

#include "attention/attention.h"

namespace swarmkv::internal {

void reference_attention(const AttentionShape& shape, const AttentionTensors& tensors);

/// Squared error over squared size (nmse); the squared error alone if there should be nothing.
[[nodiscard]] double normalised_error(std::span<const float> is, std::span<const float> should);

}  // namespace swarmkv::internal
