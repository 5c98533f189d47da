// What llama-common would not say of a JSON Schema. It follows some regular expressions; any other
// it takes for "any text", and says so on stderr only. Over bounds that nothing can keep it never
// ends.
#pragma once

#include <string>

#include "json.h"

namespace swarmkv::internal {

/// What to say of the first pattern or bound that would not be kept, with its place in the schema;
/// "" if all are. Patterns that are no regular expressions are left to the converter, which refuses
/// them.
std::string schema_problem(const common_json& schema);

}  // namespace swarmkv::internal
