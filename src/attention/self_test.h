// Whether the grouped kernel computes right on this machine, for the sizes of a model.
#pragma once

#include <string_view>

namespace swarmkv::internal {

/// Squared error over squared size against the formula in double precision, for a call with a
/// shared prefix, private cells and a row that sees nothing. target as GroupedAttention's. Some
/// milliseconds.
[[nodiscard]] double grouped_attention_error(int head_size, int n_heads, int n_kv_heads,
                                             std::string_view target = {});

}  // namespace swarmkv::internal
