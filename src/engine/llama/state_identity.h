// What a state of llama.cpp depends on and its bytes do not say.
#pragma once

#include "engine/llama/llama_handle.h"
#include "engine/state.h"
#include "engine/types.h"

namespace swarmkv::internal {

/// All of it but the layout of V. Reads the environment as the runtime does when it makes a
/// context.
[[nodiscard]] StateIdentity state_identity(const LoadedModel& model, const ContextOptions& options,
                                           int n_cells);

/// Whether cells carry positions in the plane, which then stand in a state, too.
[[nodiscard]] bool has_cell_ext(const LoadedModel& model);

}  // namespace swarmkv::internal
