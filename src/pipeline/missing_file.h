// What to say of a path that leads nowhere.
#pragma once

#include <string>

#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

/// Which name is missing in which folder, and a name in there that is like it. For messages: looks
/// at folders, at most at 10,000 names.
FileProblem missing_file(const std::string& path);

}  // namespace swarmkv::internal
