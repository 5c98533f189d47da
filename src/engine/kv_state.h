// llama.cpp's state of one sequence, read without the runtime.
//
//   u32 magic | i32 sequence id | parts
//   attention  u32 streams = 1 | u32 cells
//              cells x (i32 position | u32 ids = 1 | [12 bytes] | i32 id)
//              u32 transposed | u32 layers | layers x (i32 type | u64 row bytes | cells x row)
//              then V likewise, or if transposed: layers x (i32 type | u32 element bytes | u32
//              width | cells x width elements); models with a compressed cache have no V at all
//   recurrent  u32 cells = 1 | i32 position | u32 ids = 0 | u32 transposed = 0 | u32 layers
//              tensors of the layers that have one: i32 type | u64 row bytes | row
//
// Full attention: one attention part. Sliding window: two, the second with the window's cells
// alone. Recurrent: a recurrent part, on hybrid models behind one or two of attention.
//
// The runtime takes such bytes on trust. It asserts on some, accepts wrong positions, and a number
// that is not finite spreads from a cell to its neighbours and outlives the cell. So what comes
// from outside is read here first: every count against the bytes that are there, every position,
// every number. Nothing is allocated by a count that the bytes merely claim. How many tensors a
// model has is left to the runtime, which compares that itself before it writes anything.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/state.h"
#include "engine/types.h"

namespace swarmkv::internal {

struct KvStateRules {
  ForkKind kind = ForkKind::kFull;
  bool has_cell_ext = false;  ///< cells with positions in the plane (M-RoPE)
  Pos n_tokens = 0;           ///< positions [0, n_tokens) it has to hold
};

/// Where numbers lie in it.
struct KvStateTensor {
  std::uint32_t type = 0;  ///< as in GGUF files
  std::size_t begin = 0, n_bytes = 0;
};

struct KvStateShape {
  std::optional<bool> transposed_values;  ///< unset: there is no attention part
  std::vector<KvStateTensor> tensors;
};

/// Reads everything but the numbers.  cost: some microseconds, plus one look at each cell
/// errors  kCorrupt  it is not what a context of such a model writes: place, what is wrong, both
/// values
[[nodiscard]] KvStateShape read_kv_state(StateBytes state, const KvStateRules& rules);

/// Reads the numbers: all of floating point, of quantised blocks the scales.  cost: memory speed
/// errors  kCorrupt      one is infinite or none at all (place and tensor)
///         kUnsupported  a type that is not known here
void check_kv_numbers(StateBytes state, const KvStateShape& shape);

}  // namespace swarmkv::internal
