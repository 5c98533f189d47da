// What became of the documents' snapshots, as people read it.
#pragma once

#include <string>

#include "report/report_summary.h"
#include "swarmkv/report.h"

namespace swarmkv::internal {

/// "restored 3,684 tokens from 5f0c.swkv (77.0 MiB, 0.21 s)", "rejected: KV type q8_0, here f16".
/// Not escaped.
std::string snapshot_text(const SnapshotReport& snapshot);

/// A labelled line for each document that had one; "" if snapshots were off.
std::string snapshot_lines(const RunReport& report, const Paint& paint);

}  // namespace swarmkv::internal
