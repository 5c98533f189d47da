// `ask --save FILE`
#pragma once

#include "cli/model_lookup.h"
#include "cli/settings.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::cli {

/// Writes what `ask` is about to run as the pipeline file of --save, whole or not at all, and says
/// where it is. `pipeline` is what override_pipeline made of it, before its pipes are read.
/// errors  UsageError   a text or a document that cannot stand in a file
///         kUnwritable
void save_pipeline(const Pipeline& pipeline, const Settings& settings, const ModelChoice& model);

}  // namespace swarmkv::cli
