// Bounds of a JSON Schema that nothing can keep. llama-common counts from the lower to the upper
// one and never arrives.
#pragma once

#include <string>

#include "json.h"

namespace swarmkv::internal {

/// What to say of an upper bound of this object that is below its lower one; "" if there is none.
/// in  pointer: the object's place in the schema
std::string bounds_problem(const common_json& object, const std::string& pointer);

/// The same of repetitions {n,m} in a pattern, without a place.
std::string repetition_problem(const std::string& pattern);

}  // namespace swarmkv::internal
