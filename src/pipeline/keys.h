// Which keys a pipeline file may have where, and what to say about the others.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/read_context.h"

namespace swarmkv::internal {

enum class KeyLevel { kTop, kModel, kDocument, kDefaults, kAgent, kNeed, kReadyAfter, kBench };

/// What may stand at a level, besides `x-` keys.
std::vector<std::string> keys_at(KeyLevel level);

bool is_key_at(KeyLevel level, std::string_view key);

/// What is known about keys that a level does not have.
struct StrayKeys {
  /// A better hint than the nearest name, "" if there is none. May be empty.
  std::function<std::string(const Entry& entry)> advice;
  /// Filled in: the keys that were suggested. One that is missing was probably meant, and is no
  /// second mistake.
  std::vector<std::string> meant = {};

  [[nodiscard]] bool means(std::string_view key) const;
};

/// The entries of `map` whose keys are built at this level. `x-` keys are left out; every other key
/// is reported:
/// "'assert' is not built yet" [SK102] or unknown with a suggestion [SK101]. `where` ends the
/// sentence: " in agent 'risk'", "" at the top.
std::vector<Entry> known_entries(const ReadContext& context, const YamlNode& map, KeyLevel level,
                                 std::string_view where, StrayKeys* strays = nullptr);

}  // namespace swarmkv::internal
