// The ways in which agents can come to the document's state, by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swarmkv::internal {

enum class Handoff {
  kShared,     ///< one context, zero-copy fork, one batch: the scheduler
  kRecompute,  ///< every agent computes the whole document by itself
  kSnapshot,   ///< computed once, copied to host memory, restored into a fresh context for each
               ///< agent
  kDevice,     ///< computed once, kept on the device, restored into another sequence of one context
};

[[nodiscard]] std::string_view to_string(Handoff handoff);
/// errors  kInvalidArgument  no such way; the message names them all
[[nodiscard]] Handoff handoff_named(const std::string& name);
[[nodiscard]] const std::vector<std::string>& handoff_names();

}  // namespace swarmkv::internal
