// What became of the documents' snapshots, as people read it.
#pragma once

#include <string>

#include "report/report_summary.h"
#include "swarmkv/report.h"

namespace swarmkv::internal {

/// A labelled line for each file that was met or made, and for each that was not; "" if snapshots
/// were off.
std::string snapshot_lines(const RunReport& report, const Paint& paint);

}  // namespace swarmkv::internal
