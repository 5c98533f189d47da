#include "engine/llama/cell_positions.h"

// Not among the runtime's public headers, which do not tell where a token's cell is.
#include "llama-kv-cache.h"

namespace swarmkv::internal {

void read_cell_positions(llama_memory_t memory, int n_cells, std::vector<std::int32_t>& positions) {
  positions.clear();
  const auto* cache = dynamic_cast<const llama_kv_cache*>(memory);
  if (cache == nullptr || cache->get_n_stream() != 1) return;
  const llama_kv_cells& cells = cache->get_cells(0);
  if (static_cast<std::uint32_t>(n_cells) > cells.size()) return;
  positions.reserve(static_cast<std::size_t>(n_cells));
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(n_cells); ++i) {
    positions.push_back(cells.is_empty(i) ? -1 : cells.pos_get(i));
  }
}

}  // namespace swarmkv::internal
