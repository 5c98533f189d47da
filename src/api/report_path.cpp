// The chain of agents that ended last, and which documents it waited for.
#include <algorithm>
#include <string>
#include <vector>

#include "api/build_report.h"
#include "orchestrate/dag.h"

namespace swarmkv::internal {
namespace {

struct Wait {
  std::string document;
  double ms = 0;
};

// What the agent waited for, document by document in the order in which it reads them. The last one
// has the rest: of an early start no end was seen.
std::vector<Wait> waits_of(std::size_t agent, const RunReport& report, const Prepared& prepared) {
  std::vector<Wait> waits;
  double left = report.agents[agent].document_wait_ms.value_or(0);
  if (left <= 0) return waits;
  double at = report.agents[agent].enqueued_ms.value_or(0);
  const ReadList& list = prepared.reads_of(agent);
  for (std::size_t d = 0; d < list.documents.size() && left > 0; ++d) {
    const DocumentReport& document = report.documents[list.documents[d]];
    const auto& ready_ms = document.readings[static_cast<std::size_t>(list.readings[d])].ready_ms;
    const bool is_last = d + 1 == list.documents.size() || !ready_ms;
    const double ms = is_last ? left : std::clamp(*ready_ms - at, 0.0, left);
    if (ms > 0) waits.push_back({document.name, ms});
    left -= ms;
    at += ms;
  }
  return waits;
}

}  // namespace

void add_critical_path(RunReport& report, const RunRecord& record) {
  std::vector<double> durations;
  for (const AgentReport& agent : report.agents) durations.push_back(agent.e2e_ms.value_or(0));
  for (const NodeId node : Dag(record.needs).critical_path(durations)) {
    const auto i = static_cast<std::size_t>(node);
    double own_ms = durations[i];
    for (const Wait& wait : waits_of(i, report, record.prepared)) {
      report.critical_path.push_back("document:" + wait.document);
      report.critical_path_ms.push_back(wait.ms);
      own_ms -= wait.ms;
    }
    report.critical_path.push_back(report.agents[i].name);
    report.critical_path_ms.push_back(own_ms);
  }
}

}  // namespace swarmkv::internal
