// What a flash attention node of the runtime's graph asks for, in the kernel's words.
#pragma once

#include <string>

#include "attention/attention.h"
#include "ggml.h"

namespace swarmkv::internal {

/// Empty if the grouped kernel computes this node, else why not. Looks at sizes, types and strides,
/// not at numbers: the runtime asks before there are any.
[[nodiscard]] std::string why_not_grouped(const ggml_tensor* op);

/// For a node that the kernel computes.
[[nodiscard]] AttentionShape attention_shape(const ggml_tensor* op);
[[nodiscard]] AttentionTensors attention_tensors(const ggml_tensor* op);

}  // namespace swarmkv::internal
