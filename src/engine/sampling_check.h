// The ranges of Sampling, checked in one place for every engine. What a JSON schema may hold is
// each engine's own matter.
#pragma once

#include "swarmkv/sampling.h"

namespace swarmkv::internal {

/// errors  kInvalidArgument  a field out of its range; the message names field, range and value
void check_sampling(const Sampling& sampling);

}  // namespace swarmkv::internal
