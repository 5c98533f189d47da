// One arm, once: a new engine, all agents submitted together, everything that can be said of it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "api/bench_prompts.h"
#include "schedule/request_runner.h"
#include "swarmkv/bench.h"

namespace swarmkv::internal {

struct BenchStep {
  std::string arm;
  int n_document = 0, n_agents = 0, n_output = 0;
  int trial = 0, position = 0;
};

/// Told of the requests in progress, so that somebody can cancel them; of none at the end.
using OnTickets = std::function<void(const std::vector<std::shared_ptr<RequestTicket>>&)>;

/// Never throws for what the arm does: that makes a failed sample.
[[nodiscard]] BenchTrial take_sample(const swarmkv::Model& model, const BenchOptions& options,
                                     const BenchPrompts& prompts, const BenchStep& step,
                                     const OnTickets& on_tickets);

}  // namespace swarmkv::internal
