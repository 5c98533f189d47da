// "Did you mean ...?" for names that people type; nearest_name() itself is public.
#pragma once

#include <string_view>

#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

/// Edits that make one of `b`: insert, delete or replace a byte, or swap two neighbours. Values
/// above `limit` are answered as limit + 1, which keeps the cost at O(limit x length).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

}  // namespace swarmkv::internal
