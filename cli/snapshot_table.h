// Snapshots of a store as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "swarmkv/snapshot.h"

namespace swarmkv::cli {

/// Beginnings of the names: as short as it goes with each of them meaning one file, but not so
/// short that the next snapshot changes them.
std::vector<std::string> short_names(const std::vector<SnapshotInfo>& snapshots);

/// A line each under a header line, columns aligned. "" if there are none. Models and documents
/// are cut where `columns` are too few; 0 = any number.
std::string snapshot_table(const std::vector<SnapshotInfo>& snapshots, std::size_t columns = 0);

/// "3 snapshots, 231.0 MiB in /home/me/.cache/swarmkv/snapshots".
std::string store_line(const std::vector<SnapshotInfo>& snapshots, const std::string& folder);

/// What removes those that nobody can use; "" if there are none. `folder_flag` follows the command.
std::string prune_line(const std::vector<SnapshotInfo>& snapshots, const std::string& folder_flag);

/// All that is known of one, a line each.
std::string snapshot_details(const SnapshotInfo& snapshot);

}  // namespace swarmkv::cli
