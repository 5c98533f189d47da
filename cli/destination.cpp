#include "cli/destination.h"

#include <unistd.h>

#include "cli/messages.h"
#include "cli/print_choice.h"
#include "cli/report_format.h"
#include "cli/terminal.h"
#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

void write_answers(const RunReport& report, const Settings& settings,
                   const Destination& destination, AnswerStream* stream) {
  if (stream != nullptr) {
    stream->finish();
    return;
  }
  if (settings.output == "jsonl") return;  // written while it ran
  const std::string text = settings.output == "json" ? to_json(report)
                                                     : answers_text(report, destination.printed,
                                                                    destination.stdout_is_terminal);
  // A reader that went away has what it wanted.
  write_all(STDOUT_FILENO, text, "standard output");
}

void say_errors(const RunReport& report) {
  constexpr std::size_t kMost = 20, kColumns = 500;
  std::size_t n = 0;
  for (const AgentReport& agent : report.agents) {
    if (!agent.error || ++n > kMost) continue;
    const std::string line = std::string(to_string(agent.status)) + " " + agent.name + ": ";
    say(fit_for_terminal(line + *agent.error, kColumns) + "\n");
  }
  if (n > kMost) say("... and " + std::to_string(n - kMost) + " more\n");
}

}  // namespace

Destination choose_destination(const Pipeline& pipeline, const Settings& settings,
                               const Environment& environment) {
  Destination out;
  out.stdout_is_terminal = is_terminal(STDOUT_FILENO);
  out.stderr_is_terminal = is_terminal(STDERR_FILENO);
  out.color = use_color(settings.color, environment, out.stderr_is_terminal);
  if (settings.output == "text") out.printed = agents_to_print(settings.print, pipeline);
  if (settings.stream && out.printed.empty()) {
    throw UsageError("--stream needs an agent that is printed, but --print is none");
  }
  out.streams = settings.stream || (out.stdout_is_terminal && out.printed.size() == 1);
  for (const std::string& path : settings.reports) {
    out.reports.push_back(std::make_unique<ReportFile>(path));
  }
  out.answers = std::make_shared<AnswerFiles>(pipeline);
  return out;
}

int deliver(RunReport report, const Settings& settings, const Destination& destination,
            AnswerStream* stream, EventLog* events) {
  const bool silent = stderr_is_events(settings);
  const auto attempt = [&](auto&& write) {
    try {
      write();
    } catch (const Error& error) {
      if (!silent) say_error(error.what());
      if (events != nullptr) events->note(error.what());
      report.exit_code = exit_code(error.code());  // what is written after this says so, too
    }
  };
  if (events != nullptr) {
    for (const Warning& warning : report.warnings) events->warn(warning);
  }
  attempt([&] { write_answers(report, settings, destination, stream); });
  attempt([&] { destination.answers->check(); });
  for (std::size_t i = 0; i < destination.reports.size(); ++i) {
    attempt([&] {
      const ReportFormat format = report_format(settings.reports[i], "--report");
      destination.reports[i]->write(report_text(format, report, events));
    });
  }
  if (events != nullptr) {
    attempt([&] { events->check(); });
    events->finish(report.status, report.exit_code);
    attempt([&] { events->check(); });  // of the last line
  }
  if (silent) return report.exit_code;
  if (settings.quiet) {
    say_errors(report);  // errors are said even quietly
  } else {
    say(to_table(report, destination.color));
  }
  return report.exit_code;
}

}  // namespace swarmkv::cli
