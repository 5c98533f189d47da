// What the terminal is and may be used for.
#pragma once

#include <string>

#include "cli/parse.h"

namespace swarmkv::cli {

bool is_terminal(int fd);

/// Flag, then NO_COLOR, then CLICOLOR_FORCE, then whether a person looks at `fd`.
bool use_color(const std::string& flag, const Environment& environment, bool fd_is_terminal);

enum class ProgressMode { kNone, kPlain, kTty };
/// `flag` is auto, tty, plain, jsonl or none. A dumb terminal cannot redraw lines, and a CI log
/// keeps all of them.
ProgressMode progress_mode(const std::string& flag, bool quiet, const Environment& environment,
                           bool fd_is_terminal);

struct TerminalSize {
  int columns = 80, rows = 24;
};
/// Asked at each redraw, so that a resized window is honoured.
TerminalSize terminal_size(int fd);

}  // namespace swarmkv::cli
