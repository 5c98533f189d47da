#include "measure/spread.h"

#include <algorithm>

namespace swarmkv::internal {

std::optional<BenchFigure> spread(std::vector<double> samples) {
  if (samples.empty()) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  return BenchFigure{samples[(samples.size() - 1) / 2], samples.front(), samples.back(),
                     static_cast<int>(samples.size())};
}

}  // namespace swarmkv::internal
