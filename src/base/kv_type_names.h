// What the types of a KV cache are called, in files, flags and reports.
#pragma once

#include <array>

namespace swarmkv::internal {

/// In the order of KvType (engine/types.h).
inline constexpr std::array kKvTypeNames{"f32",  "f16",  "bf16", "q8_0",
                                         "q5_1", "q5_0", "q4_1", "q4_0"};

}  // namespace swarmkv::internal
