// What to say of text that is no YAML. The parser knows where it gave up; what was meant has to be
// seen from the lines around it.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/diagnostic_list.h"
#include "pipeline/source_text.h"

namespace swarmkv::internal {

/// `what` is the parser's complaint about what stands at `pos`. The answer may point elsewhere.
Problem explain_syntax(const SourceText& source, const SourcePos& pos, std::string_view what);

}  // namespace swarmkv::internal
