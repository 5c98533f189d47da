// Which files go when there is too much of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "snapshot/open_folder.h"

namespace swarmkv::internal {

/// What stands in the way of a limit after everything that may go has gone.
struct Eviction {
  std::vector<FolderEntry> removed;
  std::uint64_t bytes_left = 0;    ///< of all files that stay
  std::uint64_t bytes_in_use = 0;  ///< of those among them that some process has open
};

/// Removes snapshots until at most `limit_bytes` are left: damaged ones first, then by least recent
/// use; never a file in use. What is being written is not counted: its writer comes here, too.
/// errors  kUnreadable  the folder cannot be read
Eviction evict_down_to(const OpenFolder& folder, std::uint64_t limit_bytes);

}  // namespace swarmkv::internal
