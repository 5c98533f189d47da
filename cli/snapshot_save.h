// `swarmkv snapshot save`.
#pragma once

#include "cli/commands.h"

namespace swarmkv::cli {

/// Reads each document of -f, or what the agents of a pipeline file read, and saves what was
/// computed for it, as a run with the same settings would look for it. Goes on after one that
/// fails; returns the exit code.
int save_snapshots(const Settings& settings, const Invocation& invocation);

}  // namespace swarmkv::cli
