// Progress as text. Pure functions of the state, so that tests compare them with golden text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/progress_state.h"

namespace swarmkv::cli {

/// "name - model - 3 agents": the first thing a run says.
std::string header_line(const ProgressState& state);

struct LiveView {
  int columns = 80, rows = 24;
  bool color = false;
  double elapsed_s = 0;  ///< since the command began
};

/// The lines of the live region, each narrower than the terminal, together lower than it.
std::vector<std::string> render_live(const ProgressState& state, const LiveView& view);

/// Remembers what the plain log has said about prefill, so that it speaks every two seconds only.
struct PlainMemory {
  std::optional<double> last_prefill_ms;
};

/// The line that `event` deserves in a plain log, if any. `state` has the event already.
std::optional<std::string> plain_line(const ProgressState& state, const Event& event,
                                      PlainMemory& memory);

/// "failed: out of time". A reason that begins with what happened ("skipped because ...") stands
/// for both.
std::string ended_text(const std::string& how, const std::string& why);

/// 1234567 -> "1,234,567".
std::string with_commas(long n);

}  // namespace swarmkv::cli
