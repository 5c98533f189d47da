// What can never run is refused on the caller's thread, before it waits for anything.
#pragma once

#include "engine/types.h"

namespace swarmkv::internal {

/// `n_cells`: of the pool, empty.
/// errors  kInvalidArgument  naming the value; kDoesNotFit  naming needed and available
void check_request(const Request& request, const ModelInfo& model, int n_cells);

}  // namespace swarmkv::internal
