// What happened when, worked out once for every picture of a run. All times are ms since run clock
// 0; what is not known has no span.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "swarmkv/report.h"

namespace swarmkv::internal {

struct Span {
  const char* name = "";  ///< "document", "queue", "prefill", "decode", "function"
  double begin_ms = 0, end_ms = 0;
};

struct AgentSpans {
  std::vector<Span> phases;       ///< one after another, from its submission to its end
  std::vector<double> tokens_ms;  ///< each token, the first included
  std::vector<double> preempted_ms;

  [[nodiscard]] bool began() const { return !phases.empty(); }
  [[nodiscard]] double begin_ms() const { return phases.front().begin_ms; }
  [[nodiscard]] double end_ms() const { return phases.back().end_ms; }
};

struct RunSpans {
  std::vector<std::optional<Span>> documents;  ///< their prefill; as RunReport::documents
  /// The same by reading; at least one of each document.
  std::vector<std::vector<std::optional<Span>>> readings;
  std::vector<AgentSpans> agents;                ///< as RunReport::agents
  std::vector<std::pair<double, int>> decoding;  ///< from then on so many agents decode
  double end_ms = 0;
};

[[nodiscard]] RunSpans spans_of(const RunReport& report);

/// What an agent waits for before it is submitted: agents of its `needs` and the one it continues.
[[nodiscard]] std::vector<std::size_t> needed_agents(const RunReport& report, std::size_t agent);

}  // namespace swarmkv::internal
