// A plan, and an engine of the size that it chose.
#pragma once

#include "cli/progress.h"
#include "swarmkv/engine.h"
#include "swarmkv/plan.h"

namespace swarmkv::cli {

struct PlannedEngine {
  Plan plan;
  Engine engine;
};

/// Tells `progress` of both as they come about.
/// errors  those of make_plan and of Engine
PlannedEngine planned_engine(const Model& model, const Pipeline& pipeline, EngineOptions settings,
                             const RunOptions& options, Progress& progress);

}  // namespace swarmkv::cli
