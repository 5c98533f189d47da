// What is known of one file, as people read it.
#pragma once

#include <span>
#include <string>
#include <utility>

namespace swarmkv::cli {

/// A line each, names and values aligned; those without a value are left out. Safe for a terminal.
std::string detail_lines(std::span<const std::pair<const char*, std::string>> rows);

}  // namespace swarmkv::cli
