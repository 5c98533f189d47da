// The first and the last line of the live region.
#pragma once

#include <cstddef>
#include <string>

#include "cli/progress_render.h"
#include "cli/progress_state.h"

namespace swarmkv::cli {

/// What is run, and for how long.
std::string title_line(const ProgressState& state, const LiveView& view);
/// What the engine does; `n_hidden` agents have no line of their own.
std::string bottom_line(const ProgressState& state, std::size_t n_hidden);

/// Exactly `columns` wide: cut, or filled with blanks.
std::string padded(const std::string& text, std::size_t columns);

}  // namespace swarmkv::cli
