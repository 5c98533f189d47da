// report.json as a value, for what is more than the file.
#pragma once

#include "report/json_values.h"
#include "swarmkv/report.h"

namespace swarmkv::internal {

[[nodiscard]] Json report_json(const RunReport& report);

}  // namespace swarmkv::internal
