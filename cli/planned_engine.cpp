#include "cli/planned_engine.h"

#include <utility>

namespace swarmkv::cli {

PlannedEngine planned_engine(const Model& model, const Pipeline& pipeline, EngineOptions settings,
                             const RunOptions& options, Progress& progress) {
  Plan plan = make_plan(model, pipeline, settings, options);
  progress.planned(plan);
  settings.ctx_size = plan.ctx_size;
  settings.parallel = plan.parallel;
  Engine engine(model, settings);
  progress.model_loaded(model.describe(), model.load_ms(), engine.ctx_size());
  return {std::move(plan), std::move(engine)};
}

}  // namespace swarmkv::cli
