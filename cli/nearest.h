// "Did you mean": the candidate with the fewest typing errors, if it is near enough to be meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swarmkv::cli {

/// Empty if nothing is near: more than a third of the letters would have to change.
std::string nearest(std::string_view typed, const std::vector<std::string>& candidates);

}  // namespace swarmkv::cli
