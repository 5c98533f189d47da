// When documents were there, and which of them the longest chain of agents waited for.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/build_report.h"
#include "orchestrate/dag.h"

namespace swarmkv::internal {
namespace {

// By document: when the first agent that reads it was admitted.
std::map<std::string_view, double> first_admissions(const RunReport& report) {
  std::map<std::string_view, double> first;
  for (const AgentReport& agent : report.agents) {
    if (!agent.admitted_ms) continue;
    for (const std::string& document : agent.reads) {
      double& ms = first.emplace(document, *agent.admitted_ms).first->second;
      ms = std::min(ms, *agent.admitted_ms);
    }
  }
  return first;
}

// From when on the document could be worked at: an agent that reads it was there, and what was
// computed before it was done.
double begin_of(const std::string& document, double admitted_ms, TimePoint first,
                const RunRecord& record) {
  double began = admitted_ms;
  for (const auto& [other, times] : record.document_times) {
    if (other == document || !times.ready || *times.ready > first) continue;
    began = std::max(began, ms_between(record.clock_zero, *times.ready));
  }
  return began;
}

struct Wait {
  std::string document;
  double ms = 0;
};

// What the agent waited for, document by document in the order in which it reads them. The last one
// has the rest: of an early start no end was seen.
std::vector<Wait> waits_of(const AgentReport& agent, const RunReport& report) {
  std::vector<Wait> waits;
  double left = agent.document_wait_ms.value_or(0);
  double at = agent.enqueued_ms.value_or(0);
  for (std::size_t i = 0; i < agent.reads.size() && left > 0; ++i) {
    const auto document =
        std::find_if(report.documents.begin(), report.documents.end(),
                     [&](const DocumentReport& d) { return d.name == agent.reads[i]; });
    const bool is_last = i + 1 == agent.reads.size() || !document->ready_ms;
    const double ms = is_last ? left : std::clamp(*document->ready_ms - at, 0.0, left);
    if (ms > 0) waits.push_back({agent.reads[i], ms});
    left -= ms;
    at += ms;
  }
  return waits;
}

}  // namespace

void add_document_times(RunReport& report, const RunRecord& record) {
  const std::map<std::string_view, double> admitted = first_admissions(report);
  for (DocumentReport& out : report.documents) {
    const auto known = record.document_times.find(out.name);
    if (known == record.document_times.end() || !known->second.ready) continue;
    out.ready_ms = ms_between(record.clock_zero, *known->second.ready);
    const std::optional<TimePoint>& first = known->second.first;
    const auto reader = admitted.find(out.name);
    if (out.computed_tokens == 0 || !first || reader == admitted.end()) continue;
    const double began = begin_of(out.name, reader->second, *first, record);
    if (began > *out.ready_ms) continue;
    out.prefill_ms = *out.ready_ms - began;
    // Computed again later, it was not that fast.
    const int n = std::min(out.computed_tokens, out.n_tokens);
    if (*out.prefill_ms > 0) out.prefill_tokens_per_s = 1000.0 * n / *out.prefill_ms;
  }
}

void add_critical_path(RunReport& report, const RunRecord& record) {
  std::vector<double> durations;
  for (const AgentReport& agent : report.agents) durations.push_back(agent.e2e_ms.value_or(0));
  for (const NodeId node : Dag(record.needs).critical_path(durations)) {
    const auto i = static_cast<std::size_t>(node);
    double own_ms = durations[i];
    for (const Wait& wait : waits_of(report.agents[i], report)) {
      report.critical_path.push_back("document:" + wait.document);
      report.critical_path_ms.push_back(wait.ms);
      own_ms -= wait.ms;
    }
    report.critical_path.push_back(report.agents[i].name);
    report.critical_path_ms.push_back(own_ms);
  }
}

}  // namespace swarmkv::internal
