#pragma once

#include <string>

namespace swarmkv::cli {

/// The page of a command, "" = the first page. Fits a screen of 80 x 50. Empty if there is no such
/// page.
std::string help_text(const std::string& command);

}  // namespace swarmkv::cli
