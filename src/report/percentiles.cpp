// Nearest-rank percentiles: always a value that was really measured, never one between two of them.
#include <algorithm>
#include <cmath>

#include "swarmkv/report.h"

namespace swarmkv {
namespace {

// Below this many samples a p95 would only be another name for the largest one.
constexpr std::size_t kMinSamplesForTails = 20;

// The smallest sample such that at least p percent of all samples are not larger. Integer
// arithmetic, so that 95 % of 20 samples is rank 19 and not 20 by a rounding error.
double nearest_rank(const std::vector<double>& sorted, std::size_t p) {
  const std::size_t rank = std::max<std::size_t>(1, (p * sorted.size() + 99) / 100);
  return sorted[rank - 1];
}

}  // namespace

Percentiles percentiles(std::vector<double> samples_ms) {
  // A sample that is not a number has no rank; sorting with one is undefined.
  std::erase_if(samples_ms, [](double x) { return std::isnan(x); });
  Percentiles out;
  out.n = samples_ms.size();
  if (samples_ms.empty()) return out;
  std::sort(samples_ms.begin(), samples_ms.end());
  out.p50 = nearest_rank(samples_ms, 50);
  out.max = samples_ms.back();
  if (out.n >= kMinSamplesForTails) {
    out.p95 = nearest_rank(samples_ms, 95);
    out.p99 = nearest_rank(samples_ms, 99);
  }
  return out;
}

}  // namespace swarmkv
