// From the words of a command line and the environment to Settings. Flag beats environment.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/settings.h"

namespace swarmkv::cli {

/// A variable's value; unset and empty are the same.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

/// `args` without the program's name.
/// errors  UsageError  unknown command or flag (with the nearest one), a value out of range, a
/// missing value
Settings parse_command_line(const std::vector<std::string>& args, const Environment& environment);

/// Names of the commands that exist.
const std::vector<std::string>& command_names();

/// What stands behind `snapshot`, in the order of their bits (flags.h).
const std::vector<std::string>& snapshot_verbs();

/// errors  UsageError  always: there is no such command, or not yet
[[noreturn]] void refuse_command(const std::string& name);

}  // namespace swarmkv::cli
