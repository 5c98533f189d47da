#pragma once

#include <string>
#include <vector>

#include "cli/parse.h"

namespace swarmkv::cli {

/// The whole program after argv. Returns the exit code; nothing is thrown.
int run_app(const std::vector<std::string>& words, const Environment& environment);

/// Makes the process fit to be used in pipes: descriptors 0 to 2 exist, a vanished reader and a
/// file that may not grow are errors and not signals.
void prepare_process();

}  // namespace swarmkv::cli
