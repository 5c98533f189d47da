// Pipelines that read documents as a run would, and ask nothing about them.
#pragma once

#include <string>

#include "cli/settings.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::cli {

/// Of `swarmkv ask`, for the document in `file`.
Pipeline reading_of_document(const std::string& file, const Settings& settings);

/// Of `swarmkv run`: every beginning that its agents read, with its system text and snapshots where
/// the run looks for them. Where the pipeline has none, for all documents, as --snapshot auto does.
/// errors  UsageError  no agent reads a document
Pipeline reading_of_pipeline(Pipeline pipeline, const Settings& settings);

}  // namespace swarmkv::cli
