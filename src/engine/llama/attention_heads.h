// The attention heads that a model's metadata announce. The runtime's graph has the last word.
#pragma once

#include <string>

#include "attention/attention.h"
#include "engine/gguf.h"

namespace swarmkv::internal {

/// Sizes of the heads; zeros where the file does not tell or says what cannot be.
[[nodiscard]] AttentionShape announced_heads(const GgufInfo& file);

/// Empty if the metadata speak for the grouped kernel.
[[nodiscard]] std::string why_no_grouped_attention(const GgufInfo& file);

}  // namespace swarmkv::internal
