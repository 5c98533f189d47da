// What `inspect` and `snapshot` tell of files, as JSON.
#pragma once

#include <string>
#include <vector>

#include "swarmkv/engine.h"
#include "swarmkv/snapshot.h"

namespace swarmkv::cli {

/// Schema swarmkv.model/1.
std::string to_json(const ModelDescription& model);

/// Schema swarmkv.snapshot/1.
std::string to_json(const SnapshotInfo& snapshot);

/// Schema swarmkv.snapshots/1: those of a folder, or of what was removed from it.
std::string to_json(const std::vector<SnapshotInfo>& snapshots, const std::string& folder);

/// What became of one document of `snapshot save`.
struct SavedDocument {
  std::string document;   ///< its file
  SnapshotReport result;  ///< state "failed" and a reason, where it came to nothing
};
/// Schema swarmkv.saved/1.
std::string to_json(const std::vector<SavedDocument>& documents);

}  // namespace swarmkv::cli
