#include <filesystem>

#include "swarmkv/pipeline.h"

namespace swarmkv {

std::string resolve_path(const std::string& folder, const std::string& path) {
  if (path == "-") return path;
  return (std::filesystem::path(folder) / path).string();  // an absolute path replaces the folder
}

}  // namespace swarmkv
