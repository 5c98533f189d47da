// Who wants the event stream of a command.
#pragma once

#include <string>
#include <vector>

#include "cli/event_log.h"
#include "cli/parse.h"

namespace swarmkv::cli {

EventSinks event_sinks(const Settings& settings);

/// The same of a command line that may be wrong, so that a program that reads the stream is told
/// so: by its flags alone, as far as they can be read.
EventSinks guess_event_sinks(const std::vector<std::string>& words, const Environment& environment);

}  // namespace swarmkv::cli
