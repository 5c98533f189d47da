#pragma once

#include <string>

namespace swarmkv::cli {

/// The pages of `swarmkv snapshot`: with all flags, and what --help prints.
std::string snapshot_help();
std::string snapshot_screen();

}  // namespace swarmkv::cli
