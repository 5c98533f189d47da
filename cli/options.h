// Settings, pipeline file and defaults become the library's options: flag beats --set, that beats
// the environment, that the file, and that the default.
#pragma once

#include <optional>
#include <set>
#include <string>

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

/// All of it but the seed, which each command derives in its own way. A variable leaves
/// `changed_keys` as they are (reaches() in settings.h).
void override_sampling(Sampling& sampling, const Settings& settings,
                       const std::set<std::string>& changed_keys = {});

/// What the command line says about sampling and limits holds for every agent that a model
/// computes, and what it says about snapshots for every document. So does what the environment
/// says, but for what --set changed.
void override_pipeline(Pipeline& pipeline, const Settings& settings);

}  // namespace swarmkv::cli
