// How a run ended, as far as only the command knows: signals, a reader that went away, --strict.
#pragma once

#include <string>

#include "cli/settings.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {

/// Exit code and status of a run that a signal stopped; 0 = none came.
void mark_interrupted(RunReport& report, int signal_number);

/// A run that was stopped because nobody reads its answer any more has not failed: the exit code is
/// that of what went wrong besides.
void mark_reader_gone(RunReport& report);

/// Under --strict warnings make a run fail. Returns what to say about it; empty if there is
/// nothing.
std::string apply_strict(RunReport& report, const Settings& settings);

}  // namespace swarmkv::cli
