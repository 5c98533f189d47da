#pragma once

#include <string>

namespace swarmkv::internal {

/// A YAML file's text, at most kMaxFileBytes; "-" = standard input.
/// errors  kUnreadable
std::string read_bounded_file(const std::string& path);

}  // namespace swarmkv::internal
