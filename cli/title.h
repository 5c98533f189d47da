// What a pipeline is called where it is shown.
#pragma once

#include <string>

#include "swarmkv/pipeline.h"

namespace swarmkv::cli {

/// Its own name; without one it is known by its file's.
std::string title_of(const Pipeline& pipeline, const std::string& file);

}  // namespace swarmkv::cli
