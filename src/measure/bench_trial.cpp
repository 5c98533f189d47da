// The original experiment's times, from a trial's raw ones.
#include <algorithm>

#include "swarmkv/bench.h"

namespace swarmkv {
namespace {

std::optional<double> begin_of_output(const BenchAgent& agent) {
  return agent.first_token_ms ? agent.first_token_ms : agent.finished_ms;  // prefill only
}

}  // namespace

// Where an agent finds the document ready, it was computed for another one.
std::vector<double> BenchTrial::document_ms() const {
  std::vector<double> out;
  for (const BenchAgent& agent : agents) {
    if (!agent.admitted_ms || !agent.prefix_ready_ms) continue;
    if (arm != "recompute" && !out.empty()) break;
    out.push_back(*agent.prefix_ready_ms - *agent.admitted_ms);
  }
  return out;
}

std::vector<double> BenchTrial::branch_ms() const {
  std::vector<double> out;
  for (const BenchAgent& agent : agents) {
    if (agent.prefix_ready_ms && agent.finished_ms) {
      out.push_back(*agent.finished_ms - *agent.prefix_ready_ms);
    }
  }
  return out;
}

// How late a branch starts: behind its own prefill of the document, or behind a hand-off and its
// own prompt.
std::vector<double> BenchTrial::proxy_ms() const {
  if (arm == "recompute") return document_ms();
  std::vector<double> out;
  for (const BenchAgent& agent : agents) {
    const std::optional<double> begins = begin_of_output(agent);
    if (agent.prefix_ready_ms && begins) out.push_back(*begins - *agent.prefix_ready_ms);
  }
  return out;
}

}  // namespace swarmkv
