#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace swarmkv::cli {
namespace {

// Without a kind, which an empty variable is, nothing is known about its escape sequences.
bool is_dumb(const Environment& environment) {
  return environment("TERM").value_or("dumb") == "dumb";
}

// A log that people read later, whatever the service makes standard error look like.
bool is_ci(const Environment& environment) {
  const auto value = environment("CI");
  return value && *value != "0" && *value != "false";
}

}  // namespace

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

bool use_color(const std::string& flag, const Environment& environment, bool fd_is_terminal) {
  if (flag == "always") return true;
  if (flag == "never") return false;
  if (environment("NO_COLOR")) return false;
  const auto force = environment("CLICOLOR_FORCE");
  if (force && *force != "0") return true;
  return fd_is_terminal && !is_dumb(environment);
}

ProgressMode progress_mode(const std::string& flag, bool quiet, const Environment& environment,
                           bool fd_is_terminal) {
  // Event lines are written elsewhere, and nothing may stand between them.
  if (quiet || flag == "none" || flag == "jsonl") return ProgressMode::kNone;
  if (flag == "plain" || is_dumb(environment)) return ProgressMode::kPlain;
  if (flag == "tty") return ProgressMode::kTty;
  if (is_ci(environment)) return ProgressMode::kPlain;
  return fd_is_terminal ? ProgressMode::kTty : ProgressMode::kPlain;
}

TerminalSize terminal_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

}  // namespace swarmkv::cli
