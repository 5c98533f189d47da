// What may stand behind a flag, for shells that complete command lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"

namespace swarmkv::cli {

/// Words that `flag` takes with this command: all of them, or those beside a number, a name or a
/// file. Empty = anything.
std::vector<std::string_view> flag_values(const Flag& flag, Command command);

/// Its value names a file that is there.
bool takes_file(const Flag& flag);
/// Its value names a folder.
bool takes_folder(const Flag& flag);

}  // namespace swarmkv::cli
