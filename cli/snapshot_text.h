// Snapshots in a line, as progress and commands tell of them.
#pragma once

#include <string>

#include "swarmkv/event.h"

namespace swarmkv::cli {

/// The last part of a path: in the store's folder that is the snapshot's name.
std::string file_name(const std::string& path);

/// "restored 3,684 tokens from 5f0c.swkv (77.0 MiB, 0.21 s)", "rejected: KV type q8_0, here f16".
/// Of another event nothing.
std::string snapshot_news(const Event& event);

/// The same for little room: "restored (77.0 MiB, 0.21 s)".
std::string snapshot_note(const Event& event);

}  // namespace swarmkv::cli
