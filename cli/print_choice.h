// Which agents' answers go to standard output, and how they look there.
#pragma once

#include <string>
#include <vector>

#include "swarmkv/pipeline.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {

/// `choice` is final (agents that nobody needs), all, none or names with commas. File order.
/// errors  UsageError  no such agent, with the nearest name
std::vector<std::string> agents_to_print(const std::string& choice, const Pipeline& pipeline);

/// One answer alone stands bare; of several each gets a heading. An agent without an answer is left
/// out: the table says why. Answers are verbatim unless `for_terminal`.
std::string answers_text(const RunReport& report, const std::vector<std::string>& names,
                         bool for_terminal);

}  // namespace swarmkv::cli
