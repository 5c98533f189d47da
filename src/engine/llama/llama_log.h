// The runtime's log. It belongs to the process, not to a model, and by default it prints to stderr,
// which a library must not do.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace swarmkv::internal {

using LogSink = std::function<void(int level, std::string_view text)>;

/// Brings the runtime up, once per process, and silences it: a callback of ours takes the place of
/// the default one, and llama-common's own printer is turned off. A callback that the program had
/// set itself stays, unless a sink asks for the messages.
void start_runtime();

/// Sends messages to `sink` while the answer lives; null for an empty sink. The youngest sink wins.
[[nodiscard]] std::shared_ptr<const void> install_log_sink(const LogSink& sink);

/// What the runtime first complained about on this thread since the last call. The C interface
/// answers failures with a null pointer only; the reason is in the log.
[[nodiscard]] std::string take_first_complaint();

}  // namespace swarmkv::internal
