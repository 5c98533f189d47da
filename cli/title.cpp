#include "cli/title.h"

#include <filesystem>

namespace swarmkv::cli {

std::string title_of(const Pipeline& pipeline, const std::string& file) {
  if (pipeline.name != Pipeline().name) return pipeline.name;
  return file == "-" ? "standard input" : std::filesystem::path(file).filename().string();
}

}  // namespace swarmkv::cli
