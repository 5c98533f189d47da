#pragma once

#include <string_view>

namespace swarmkv::internal {

/// What this binary was made from, filled in by CMake.
struct BuildInfo {
  std::string_view version;       // "0.1.0"
  std::string_view llama_commit;  // short commit of llama.cpp; "none" without that engine
  std::string_view compiler;      // "GNU 12.2.0"
  std::string_view build_type;    // "Release"
  bool with_llama = false;
  bool with_cuda = false;
};

const BuildInfo& build_info();

}  // namespace swarmkv::internal
