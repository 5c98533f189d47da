// The patterns of a JSON Schema. llama-common follows some regular expressions; any other it takes
// for "any text", and says so on stderr only.
#pragma once

#include <string>

#include "json.h"

namespace swarmkv::internal {

/// What to say of the first pattern that would not be followed, with its place in the schema; "" if
/// all are. Patterns that are no regular expressions are left to the converter, which refuses them.
std::string pattern_problem(const common_json& schema);

}  // namespace swarmkv::internal
