// What a report looks like follows from its name.
#pragma once

#include <string>

#include "cli/event_log.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {

enum class ReportFormat { kJson, kJsonLines, kMarkdown, kHtml, kCsv, kTrace };

/// By the end of the name: .json, .jsonl, .md, .html, .csv or .trace.json.
/// errors  UsageError  it has none of these; `source` is the flag
ReportFormat report_format(const std::string& path, const std::string& source);

/// `events` is there if the format is kJsonLines.
std::string report_text(ReportFormat format, const RunReport& report, EventLog* events);

}  // namespace swarmkv::cli
