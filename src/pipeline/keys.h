// Which keys a pipeline file may have where, and what to say about the others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/read_context.h"

namespace swarmkv::internal {

enum class KeyLevel { kTop, kModel, kDocument, kDefaults, kAgent, kBench };

/// The entries of `map` whose keys are built at this level. `x-` keys are left out; every other key
/// is reported:
/// "'continues' is not built yet" [SK102] or unknown with a suggestion [SK101]. `where` ends the
/// sentence: " in agent 'risk'", "" at the top.
std::vector<Entry> known_entries(const ReadContext& context, const YamlNode& map, KeyLevel level,
                                 std::string_view where);

}  // namespace swarmkv::internal
