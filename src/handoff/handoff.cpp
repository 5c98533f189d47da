#include "handoff/handoff.h"

#include <cstddef>

#include "swarmkv/error.h"

namespace swarmkv::internal {

const std::vector<std::string>& handoff_names() {
  // The order of the enumerators.
  static const std::vector<std::string> names{"shared", "recompute", "snapshot", "device"};
  return names;
}

std::string_view to_string(Handoff handoff) {
  return handoff_names()[static_cast<std::size_t>(handoff)];
}

Handoff handoff_named(const std::string& name) {
  std::string known;
  for (std::size_t i = 0; i < handoff_names().size(); ++i) {
    if (handoff_names()[i] == name) return static_cast<Handoff>(i);
    known += (known.empty() ? "" : ", ") + handoff_names()[i];
  }
  throw Error(ErrorCode::kInvalidArgument,
              "[engine.options] handoff is '" + name + "', must be one of " + known);
}

}  // namespace swarmkv::internal
