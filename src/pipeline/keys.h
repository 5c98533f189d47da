// Which keys a pipeline file may have where, and what to say about the others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/read_context.h"

namespace swarmkv::internal {

enum class KeyLevel { kTop, kModel, kDocument, kDefaults, kAgent, kNeed, kReadyAfter, kBench };

/// What may stand at a level, besides `x-` keys.
std::vector<std::string> keys_at(KeyLevel level);

/// The entries of `map` whose keys are built at this level. `x-` keys are left out; every other key
/// is reported:
/// "'assert' is not built yet" [SK102] or unknown with a suggestion [SK101]. `where` ends the
/// sentence: " in agent 'risk'", "" at the top.
std::vector<Entry> known_entries(const ReadContext& context, const YamlNode& map, KeyLevel level,
                                 std::string_view where);

}  // namespace swarmkv::internal
