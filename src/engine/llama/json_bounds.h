// Bounds of a JSON Schema that nothing can keep. llama-common counts from the lower to the upper
// one and never arrives.
#pragma once

#include <string>

#include "json.h"

namespace swarmkv::internal {

/// What to say of the first upper bound below its lower one, with its place in the schema; "" if
/// there is none.
std::string bounds_problem(const common_json& schema);

/// The same of repetitions {n,m} in a pattern, without a place.
std::string repetition_problem(const std::string& pattern);

}  // namespace swarmkv::internal
