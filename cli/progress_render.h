// Progress as text. Pure functions of the state, so that tests compare them with golden text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
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

/// Columns a rendered line takes, colours not counted.
std::size_t shown_columns(const std::string& line);
/// Rows that lines of these widths take in a window that is so wide now.
std::size_t rows_when_reflowed(const std::vector<std::size_t>& lines, int columns);

/// Remembers what the plain log has said about prefill, so that it speaks every two seconds only.
struct PlainMemory {
  std::map<std::pair<std::string, int>, double> last_prefill_ms;  ///< by document and reading
};

/// The line that `event` deserves in a plain log, if any. `state` has the event already.
std::optional<std::string> plain_line(const ProgressState& state, const Event& event,
                                      PlainMemory& memory);

/// "waits for risk, memo", "waits for contract", "waits for room"; "waits" if it is not known.
std::string waiting_text(const ProgressState& state, const AgentProgress& agent);

/// "failed: out of time". A reason that begins with what happened ("skipped because ...") stands
/// for both.
std::string ended_text(const std::string& how, const std::string& why);

/// What an agent sees that started before its documents were read: "first 4,000 tokens only".
std::string early_text(int n_tokens);

/// 1234567 -> "1,234,567".
std::string with_commas(long n);
/// The same for little room: 49152 -> "49.2k".
std::string short_count(long n);

}  // namespace swarmkv::cli
