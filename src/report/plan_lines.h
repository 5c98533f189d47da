// The lines above and below the tables of a plan.
#pragma once

#include <string>

#include "report/report_summary.h"
#include "swarmkv/plan.h"

namespace swarmkv::internal {

std::string plan_title(const Plan& plan, const Paint& paint);

/// Prompt tokens, KV cache, order, critical path, warnings, and whether it fits.
std::string plan_lines(const Plan& plan, const Paint& paint);

}  // namespace swarmkv::internal
