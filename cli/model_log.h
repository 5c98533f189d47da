// The model runtime's log, as far as somebody wants to see it.
#pragma once

#include <functional>
#include <string_view>

#include "cli/settings.h"

namespace swarmkv::cli {

/// Whether anything of the log may be shown: --verbose, or --verbosity above 0.
bool shows_model_log(const Settings& settings);

/// What ModelOptions::log gets: everything with --verbose, with --verbosity what llama.cpp shows at
/// that threshold of its own. Empty if nothing is to be shown.
std::function<void(int, std::string_view)> model_log(
    const Settings& settings, const std::function<void(std::string_view)>& write);

}  // namespace swarmkv::cli
