// Which model file is used: flag, --set or SWARMKV_MODEL, then the pipeline's own, then the small
// one that scripts/get-models puts into the cache.
#pragma once

#include <string>

#include "cli/parse.h"
#include "cli/settings.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::cli {

struct ModelChoice {
  std::string path;         ///< empty for the fake engine
  std::string label;        ///< for the header line
  bool is_default = false;  ///< nobody chose it

  /// The label; a model that nobody chose is told as such.
  [[nodiscard]] std::string title() const { return label + (is_default ? " (default model)" : ""); }
};

/// errors  UsageError  no model anywhere; the message says how to get one
ModelChoice choose_model(const Settings& settings, const Pipeline& pipeline,
                         const Environment& environment);

}  // namespace swarmkv::cli
