// What `run` and `ask` share: from a pipeline to its answers.
#pragma once

#include <string>

#include "cli/commands.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::cli {

/// Loads the model, runs, prints, writes the reports. `pipeline` is valid; `title` opens the header
/// line.
int execute(Pipeline pipeline, const std::string& title, const Settings& settings,
            const Invocation& invocation);

/// Prints what was found. False if it forbids a run: errors, or warnings under --strict. `events`
/// may be null.
bool accept(const std::vector<Diagnostic>& diagnostics, const Settings& settings,
            EventLog* events = nullptr);

/// The exit code of what was not accepted: 3 if nothing but a document's file is wrong.
int refusal_code(const std::vector<Diagnostic>& diagnostics);

}  // namespace swarmkv::cli
