// Schemas that an engine refuses, found before anything runs.
#pragma once

#include <functional>
#include <string>

namespace swarmkv::internal {

/// What `attempt`, which makes something of a schema, is refused with; empty if it is not.
std::string problem_of_schema(const std::function<void()>& attempt);

}  // namespace swarmkv::internal
