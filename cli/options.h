// Settings, pipeline file and defaults become the library's options: flag and environment beat the
// file, the file beats the default.
#pragma once

#include <optional>

#include "cli/model_lookup.h"
#include "cli/settings.h"
#include "swarmkv/engine.h"

namespace swarmkv::cli {

ModelOptions model_options(const Settings& settings, const Pipeline& pipeline,
                           const ModelChoice& model);
EngineOptions engine_options(const Settings& settings, const ModelSpec& file);
RunOptions run_options(const Settings& settings);

/// Where snapshots are kept, and how many of them.
SnapshotOptions snapshot_options(const Settings& settings);

/// A flag that was given, in the place of what was there.
template <typename T>
void replace(T& out, const std::optional<T>& flag) {
  if (flag) out = *flag;
}

/// All of it but the seed, which each command derives in its own way.
void override_sampling(Sampling& sampling, const Settings& settings);

/// What the command line says about sampling and limits holds for every agent that a model
/// computes, and what it says about snapshots for every document.
void override_pipeline(Pipeline& pipeline, const Settings& settings);

}  // namespace swarmkv::cli
