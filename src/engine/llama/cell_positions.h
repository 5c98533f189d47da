// Which position each cell of a context's cache holds.
#pragma once

#include <cstdint>
#include <vector>

#include "llama.h"

namespace swarmkv::internal {

/// Positions of the first n_cells cells, -1 for free ones. Empty where the runtime keeps more than
/// one cache (windows, recurrent states): then cells are not told apart. Engine thread, within a
/// forward too.
void read_cell_positions(llama_memory_t memory, int n_cells, std::vector<std::int32_t>& positions);

}  // namespace swarmkv::internal
