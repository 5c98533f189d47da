#include "cli/execute.h"

#include <algorithm>
#include <memory>

#include "cli/destination.h"
#include "cli/inputs.h"
#include "cli/interrupts.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/outcome.h"
#include "cli/planned_engine.h"
#include "cli/progress.h"
#include "cli/run_canceller.h"
#include "cli/save_pipeline.h"
#include "swarmkv/engine.h"
#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

constexpr const char* kReaderGone = "stopped: standard output is not read any more";

std::shared_ptr<Progress> begin_progress(const Pipeline& pipeline, const std::string& title,
                                         const ModelChoice& model, const Settings& settings,
                                         const Destination& destination,
                                         const Environment& environment) {
  ProgressOptions options;
  options.mode =
      progress_mode(settings.progress, settings.quiet, environment, destination.stderr_is_terminal);
  options.color = destination.color;
  // Text and live region on one screen would write over each other.
  if (destination.streams && destination.stdout_is_terminal) {
    options.streamed = destination.printed;
  }
  return make_progress(initial_state(pipeline, title, model.title()), options);
}

}  // namespace

bool accept(const std::vector<Diagnostic>& diagnostics, const Settings& settings,
            EventLog* events) {
  const auto is_error = [](const Diagnostic& d) {
    return d.severity == Diagnostic::Severity::kError;
  };
  const auto is_warning = [](const Diagnostic& d) {
    return d.severity == Diagnostic::Severity::kWarning;
  };
  const bool errors = std::any_of(diagnostics.begin(), diagnostics.end(), is_error);
  const bool warnings = std::any_of(diagnostics.begin(), diagnostics.end(), is_warning);
  const bool refused = errors || (warnings && settings.strict);
  if (events != nullptr) {
    for (const Diagnostic& d : diagnostics) {
      if (is_warning(d)) events->warn(d);
    }
    if (refused) {
      events->note(errors ? format(diagnostics) : "warnings count as errors (--strict)");
    }
  }
  if (stderr_is_events(settings)) return !refused;
  if (!diagnostics.empty() && (refused || !settings.quiet)) {
    say(format(diagnostics));
  }
  if (!errors && refused) say_error("warnings count as errors (--strict)");
  return !refused;
}

int refusal_code(const std::vector<Diagnostic>& diagnostics) {
  bool any = false;
  for (const Diagnostic& d : diagnostics) {
    if (d.severity != Diagnostic::Severity::kError) continue;
    if (d.code != "SK110") return 2;
    any = true;
  }
  return any ? exit_code(ErrorCode::kUnreadable) : 2;
}

int execute(Pipeline pipeline, const std::string& title, const Settings& settings,
            const Invocation& invocation) {
  EventLog* const events = invocation.events;
  if (events != nullptr) events->named(pipeline.name);
  const ModelChoice choice = choose_model(settings, pipeline, invocation.environment);
  override_pipeline(pipeline, settings);
  refuse_inputs_as_reports(pipeline, settings, choice.path);
  const Destination destination = choose_destination(pipeline, settings, invocation.environment);
  if (settings.save) save_pipeline(pipeline, settings, choice);

  RunCanceller canceller;
  // Before any thread, so that all of them leave the signals to this one.
  Interrupts interrupts(!stderr_is_events(settings));
  interrupts.before_end([&destination, events](int signal) {
    for (const auto& file : destination.reports) file->abandon();
    destination.answers->abandon();
    if (events != nullptr) events->finish_now("interrupted", 128 + signal);
  });
  const std::shared_ptr<Progress> progress =
      begin_progress(pipeline, title, choice, settings, destination, invocation.environment);
  take_pipes(pipeline);

  const EngineOptions wanted = engine_options(settings, pipeline.model);  // refused before loading
  const Model model = Model::load(model_options(settings, pipeline, choice));
  if (events != nullptr) events->model_loaded(model.describe().name);
  RunOptions options = run_options(settings);
  PlannedEngine planned = planned_engine(model, pipeline, wanted, options, *progress);

  // A reader that went away wants no more text; what goes into files still wants the whole run.
  const bool keep = !settings.reports.empty() || !destination.answers->empty();
  const auto on_broken = [&canceller, keep] {
    if (!keep) canceller.request(kReaderGone);
  };
  std::shared_ptr<AnswerStream> stream;
  if (destination.streams) {
    stream = std::make_shared<AnswerStream>(destination.printed, destination.stdout_is_terminal,
                                            on_broken);
  }
  if (!destination.answers->empty()) options.observers.push_back(destination.answers);
  options.observers.push_back(progress);
  if (stream) options.observers.push_back(stream);
  if (events != nullptr) {
    events->on_broken(on_broken);
    // It outlives the run: the caller owns it.
    options.observers.emplace_back(events, [](EventLog*) {});
  }

  interrupts.on_first([&canceller](const char* reason) { canceller.request(reason); });
  Run run = planned.engine.run(planned.plan, options);
  const Attached attached(canceller, run);
  RunReport report = run.wait();
  interrupts.finishing();
  progress->finish();

  report.command = invocation.words;
  if (canceller.was_asked_to(kReaderGone)) mark_reader_gone(report);
  mark_interrupted(report, interrupts.signal());
  const std::string refusal = apply_strict(report, settings);
  if (events != nullptr && !refusal.empty()) events->note(refusal);
  const int code = deliver(std::move(report), settings, destination, stream.get(), events);
  if (!refusal.empty() && !stderr_is_events(settings)) say_error(refusal);
  return code;
}

}  // namespace swarmkv::cli
