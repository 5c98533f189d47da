// From what a run recorded to the report that users read.
#pragma once

#include <string>

#include "api/agent_runner.h"
#include "api/event_bus.h"
#include "orchestrate/orchestrator.h"
#include "swarmkv/report.h"

namespace swarmkv::internal {

struct RunRecord {
  const Prepared& prepared;
  const AgentRunner& runner;
  const OrchestratorResult& outcome;
  const std::vector<std::vector<NodeId>>& needs;
  TimePoint clock_zero, finished;
  SchedulerStats before, after;  ///< of the engine, at the run's two ends
  bool computes_alone = false;   ///< every agent computes the document by itself
  EventBus::TimesOfReadings document_times;
};

inline double ms_between(TimePoint from, TimePoint to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

/// One agent by itself; what several share is build_report's.
AgentReport report_agent(const RunRecord& record, std::size_t agent);

/// What became of each document in each place in which it is read. After all agents.
void add_documents(RunReport& report, const RunRecord& record);
/// Of a document what its readings say together.
void sum_up(DocumentReport& document);
/// The chain that ended last, with the documents that its agents waited for. After the above.
void add_critical_path(RunReport& report, const RunRecord& record);

/// Everything but what the caller knows: model, engine options, ids, warnings of observers.
RunReport build_report(const RunRecord& record);

}  // namespace swarmkv::internal
