// Where this project keeps files that can be made again.
#pragma once

#include <string>

namespace swarmkv::internal {

/// SWARMKV_CACHE, else swarmkv in XDG_CACHE_HOME, else .cache/swarmkv in HOME; empty if none of
/// these variables says anything. Nothing is made or looked at on disk.
std::string cache_folder();

}  // namespace swarmkv::internal
