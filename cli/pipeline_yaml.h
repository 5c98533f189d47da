// What `ask` runs, as the text of a pipeline file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/model_lookup.h"
#include "cli/settings.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::cli {

/// Documents, prompts and what the settings give for a key of the file; nothing is written that
/// `ask` cannot have. `pipeline` is what override_pipeline made of it. Files below `folder`, where
/// the text will stand (absolute, without links), are named from there, others by whole paths.
std::string pipeline_yaml(const Pipeline& pipeline, const Settings& settings,
                          const ModelChoice& model, const std::filesystem::path& folder);

/// What decides about answers and is no key of a file: "--no-chat-template".
std::vector<std::string> flags_beside_pipeline(const Settings& settings);

/// Empty if `yaml` is read as `pipeline`; else what differs, "the prompt of 'q2'". Some texts
/// cannot stand in a file: bytes that are not UTF-8, and U+0001, for which the reader has its own
/// use.
std::string lost_in_yaml(const Pipeline& pipeline, const std::string& yaml);

}  // namespace swarmkv::cli
