// What a run reads, looked after before the model is loaded.
#pragma once

#include <string>

#include "cli/settings.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::cli {

/// Documents that come through a pipe are read here and become text: a pipe has no size that could
/// be looked at, so it is read up to a limit.
/// errors  kUnreadable
void take_pipes(Pipeline& pipeline);

/// errors  UsageError  a report, an answer or what --save writes would replace a document, the
/// pipeline, the questions
///                     or the model, or one of them another
void refuse_inputs_as_reports(const Pipeline& pipeline, const Settings& settings,
                              const std::string& model);

}  // namespace swarmkv::cli
