// One arm, once: a new engine, all agents submitted together, everything that can be said of it.
#pragma once

#include <memory>
#include <string>

#include "api/bench_prompts.h"
#include "schedule/request_runner.h"
#include "swarmkv/bench.h"

namespace swarmkv::internal {

struct BenchStep {
  std::string arm;
  int n_document = 0, n_agents = 0, n_output = 0;
  int trial = 0, position = 0;
};

/// Between a sample and whoever may cancel it. Thread-safe, but for one sample at a time.
class SampleRequests {
 public:
  virtual ~SampleRequests() = default;
  /// From here on a cancel reaches the request, however soon it comes.
  /// errors  kCancelled  it has come before; what was submitted so far hears of it, too
  virtual std::shared_ptr<RequestTicket> submit(RequestRunner& runner, const Request& request) = 0;
  virtual void over() = 0;
};

/// Never throws for what the arm does: that makes a failed sample.
[[nodiscard]] BenchTrial take_sample(const swarmkv::Model& model, const BenchOptions& options,
                                     const BenchPrompts& prompts, const BenchStep& step,
                                     SampleRequests& in_progress);

}  // namespace swarmkv::internal
