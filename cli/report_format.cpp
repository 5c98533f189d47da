#include "cli/report_format.h"

#include <string_view>
#include <utility>

#include "cli/settings.h"

namespace swarmkv::cli {

ReportFormat report_format(const std::string& path, const std::string& source) {
  // .trace.json is a .json, too, so it comes first.
  constexpr std::pair<std::string_view, ReportFormat> kEndings[] = {
      {".trace.json", ReportFormat::kTrace}, {".json", ReportFormat::kJson},
      {".jsonl", ReportFormat::kJsonLines},  {".md", ReportFormat::kMarkdown},
      {".html", ReportFormat::kHtml},        {".csv", ReportFormat::kCsv}};
  for (const auto& [ending, format] : kEndings) {
    if (path.ends_with(ending)) return format;
  }
  throw UsageError(source + " '" + path +
                   "': the name must end in .json, .jsonl, .md, .html, .csv or .trace.json");
}

std::string report_text(ReportFormat format, const RunReport& report, EventLog* events) {
  switch (format) {
    case ReportFormat::kJson:
      break;
    case ReportFormat::kJsonLines:
      return events->kept_with_end(report.status, report.exit_code);
    case ReportFormat::kMarkdown:
      return to_markdown(report);
    case ReportFormat::kHtml:
      return to_html(report);
    case ReportFormat::kCsv:
      return to_csv(report);
    case ReportFormat::kTrace:
      return to_trace(report);
  }
  return to_json(report);
}

}  // namespace swarmkv::cli
