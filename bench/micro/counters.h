// What a benchmark reports besides its time.
#pragma once

#include <benchmark/benchmark.h>

namespace swarmkv::internal {

/// Seconds for one of the `n` items that an iteration works on, as counter `name` ("s_per_token").
inline void report_per_item(benchmark::State& state, const char* name, double n) {
  state.counters[name] = benchmark::Counter(
      n, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

}  // namespace swarmkv::internal
