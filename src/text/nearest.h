// "Did you mean ...?" for names that people type.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace swarmkv::internal {

/// Edits that make one of `b`: insert, delete or replace a byte, or swap two neighbours. Values
/// above `limit` are answered as limit + 1, which keeps the cost at O(limit x length).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

/// The candidate nearest to `word`, letter case aside, if it is near enough to be a slip: a third
/// of the word's length, at most 3 edits. Of equally near ones the first.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view word,
                                                      std::span<const std::string> candidates);

}  // namespace swarmkv::internal
