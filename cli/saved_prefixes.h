// What became of the prefixes that `snapshot save` was to keep.
#pragma once

#include <vector>

#include "cli/file_json.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {

/// One for each beginning of what the agents of a pipeline read, by its documents' names. State
/// "saved" or "restored": it is kept; else a reason. `code` becomes the exit code.
std::vector<SavedDocument> saved_prefixes(const RunReport& report, int& code);

/// The same for a run that reads one document, called `file`.
SavedDocument saved_document(const std::string& file, const RunReport& report, int& code);

}  // namespace swarmkv::cli
