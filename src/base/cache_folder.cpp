#include "base/cache_folder.h"

#include <cstdlib>

namespace swarmkv::internal {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string cache_folder() {
  if (std::string own = variable("SWARMKV_CACHE"); !own.empty()) return own;
  if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/swarmkv";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/swarmkv";
  return "";
}

}  // namespace swarmkv::internal
