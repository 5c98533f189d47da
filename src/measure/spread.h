// What a set of raw samples is told by: the middle one, the least, the most.
#pragma once

#include <optional>
#include <vector>

#include "swarmkv/bench.h"

namespace swarmkv::internal {

/// Unset without samples. The median is nearest rank, so always a value that was measured; of an
/// even number the lower one of the two in the middle.
[[nodiscard]] std::optional<BenchFigure> spread(std::vector<double> samples);

}  // namespace swarmkv::internal
