// Where the results of a run go: chosen and checked before anything is computed, filled at the end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/answer_files.h"
#include "cli/answer_stream.h"
#include "cli/event_log.h"
#include "cli/parse.h"
#include "cli/report_file.h"
#include "swarmkv/pipeline.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {

struct Destination {
  std::vector<std::string> printed;  ///< agents whose answers go to standard output
  bool stdout_is_terminal = false, stderr_is_terminal = false;
  bool streams = false;  ///< the one printed agent's text is written as it comes
  bool color = false;
  std::vector<std::unique_ptr<ReportFile>> reports;  ///< as in Settings::reports
  std::shared_ptr<AnswerFiles> answers;
};

/// errors  UsageError   no such agent, --stream with several
///         kUnwritable  the place of a report or of an answer
Destination choose_destination(const Pipeline& pipeline, const Settings& settings,
                               const Environment& environment);

/// Writes answers, reports and the table. Everything is tried even if one place fails: a full disk
/// must not cost the answers on the screen. `stream` and `events` may be null. Returns the exit
/// code: the report's own, or that of a place that failed.
int deliver(RunReport report, const Settings& settings, const Destination& destination,
            AnswerStream* stream, EventLog* events);

}  // namespace swarmkv::cli
