// The part of report.json that is about one agent.
#pragma once

#include "report/json_values.h"
#include "swarmkv/report.h"

namespace swarmkv::internal {

[[nodiscard]] Json agent_json(const AgentReport& agent);

[[nodiscard]] inline Json percentiles_json(const Percentiles& p) {
  return Json{{"p50", json_number(p.p50)},
              {"p95", json_number(p.p95)},
              {"p99", json_number(p.p99)},
              {"max", json_number(p.max)}};
}

}  // namespace swarmkv::internal
