#include "cli/outcome.h"

#include <fmt/format.h>

namespace swarmkv::cli {

void mark_interrupted(RunReport& report, int signal_number) {
  if (signal_number == 0) return;
  report.status = "interrupted";
  report.exit_code = 128 + signal_number;
}

void mark_reader_gone(RunReport& report) {
  if (report.status == "cancelled" && report.n_failed == 0) report.exit_code = 0;
}

std::string apply_strict(RunReport& report, const Settings& settings) {
  const std::size_t n = report.warnings.size();
  if (!settings.strict || n == 0) return "";
  if (report.exit_code == 0) {
    report.exit_code = 1;
    report.status = "failed";
  }
  const Warning& first = report.warnings.front();
  return fmt::format("--strict: {} as {}: {}{}{}", n == 1 ? "a warning counts" : "warnings count",
                     n == 1 ? "an error" : "errors",
                     first.agent.empty() ? "" : "'" + first.agent + "' ", first.message,
                     n == 1 ? "" : fmt::format("; and {} more", n - 1));
}

}  // namespace swarmkv::cli
