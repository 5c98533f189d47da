#include "cli/execute.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/answer_stream.h"
#include "cli/interrupts.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/print_choice.h"
#include "cli/progress.h"
#include "cli/run_canceller.h"
#include "swarmkv/engine.h"

namespace swarmkv::cli {
namespace {

// Where the results of this run go, decided before anything is computed.
struct Destination {
  std::vector<std::string> printed;
  bool stdout_is_terminal = false, stderr_is_terminal = false;
  bool streams = false, color = false;
};

Destination choose_destination(const Pipeline& pipeline, const Settings& settings,
                               const Environment& environment) {
  Destination out;
  out.stdout_is_terminal = is_terminal(STDOUT_FILENO);
  out.stderr_is_terminal = is_terminal(STDERR_FILENO);
  out.color = use_color(settings.color, environment, out.stderr_is_terminal);
  if (settings.output == "text") out.printed = agents_to_print(settings.print, pipeline);
  if (settings.stream && out.printed.size() != 1) {
    throw UsageError("--stream needs exactly one printed agent, but there are " +
                     std::to_string(out.printed.size()) + ": choose it with --print NAME");
  }
  out.streams = settings.stream || (out.stdout_is_terminal && out.printed.size() == 1);
  return out;
}

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
    options.streamed_agent = destination.printed.front();
  }
  const std::string label = model.label + (model.is_default ? " (default model)" : "");
  return make_progress(initial_state(pipeline, title, label), options);
}

std::string path_of(const DocumentSpec& document, const Pipeline& pipeline) {
  const bool as_is = document.path == "-" || document.path.rfind('/', 0) == 0;
  return as_is ? document.path : pipeline.folder + "/" + document.path;
}

// The library would find a pipe empty when it reads a document for the second time.
void take_pipes(Pipeline& pipeline) {
  constexpr std::size_t kLargestDocument = std::size_t{1} << 30;
  for (DocumentSpec& document : pipeline.documents) {
    const std::string path = path_of(document, pipeline);
    if (document.text || (path != "-" && !is_special_file(path))) continue;
    document.text = read_whole(path, kLargestDocument);
    document.path.clear();
  }
}

// A report must not replace what the run reads.
void refuse_inputs_as_reports(const Pipeline& pipeline, const Settings& settings,
                              const std::string& model) {
  std::vector<std::string> inputs{model};
  for (const DocumentSpec& document : pipeline.documents) {
    if (!document.text) inputs.push_back(path_of(document, pipeline));
  }
  if (settings.questions) inputs.push_back(*settings.questions);
  if (settings.command == "run") {
    inputs.push_back(settings.arguments.empty() ? "swarmkv.yaml" : settings.arguments.front());
  }
  for (const std::string& report : settings.reports) {
    for (const std::string& input : inputs) {
      if (!is_same_file(report, input)) continue;
      throw UsageError("--report '" + report + "' would replace an input of this run: '" + input +
                       "'");
    }
  }
}

// The run can be reached as long as it lives.
class Attached {
 public:
  Attached(RunCanceller& canceller, Run& run) : canceller_(canceller) { canceller_.attach(run); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached() { canceller_.detach(); }

 private:
  RunCanceller& canceller_;
};

void mark_interrupted(RunReport& report, int signal_number) {
  if (signal_number == 0) return;
  report.status = "interrupted";
  report.exit_code = 128 + signal_number;
}

// Everything is tried even if one place fails: a full disk must not cost the answers on the screen.
int deliver(const RunReport& report, const Settings& settings, const Destination& destination,
            AnswerStream* stream) {
  int code = report.exit_code;
  const auto attempt = [&code](auto&& write) {
    try {
      write();
    } catch (const Error& error) {
      say_error(error.what());
      code = exit_code(error.code());
    }
  };
  attempt([&] {
    if (stream != nullptr) {
      stream->finish();
    } else {
      write_all(STDOUT_FILENO,
                settings.output == "json"
                    ? to_json(report)
                    : answers_text(report, destination.printed, destination.stdout_is_terminal),
                "standard output");
    }
  });
  for (const std::string& path : settings.reports) {
    attempt([&] { write_file(path, to_json(report)); });
  }
  if (!settings.quiet) {
    say(to_table(report, destination.color));
  } else {
    for (const AgentReport& agent : report.agents) {  // errors are said even quietly
      if (agent.error)
        say(fit_for_terminal("failed " + agent.name + ": " + *agent.error, 500) + "\n");
    }
  }
  return code;
}

}  // namespace

bool accept(const std::vector<Diagnostic>& diagnostics, const Settings& settings) {
  const auto is_error = [](const Diagnostic& d) {
    return d.severity == Diagnostic::Severity::kError;
  };
  const auto is_warning = [](const Diagnostic& d) {
    return d.severity == Diagnostic::Severity::kWarning;
  };
  const bool errors = std::any_of(diagnostics.begin(), diagnostics.end(), is_error);
  const bool warnings = std::any_of(diagnostics.begin(), diagnostics.end(), is_warning);
  const bool refused = errors || (warnings && settings.strict);
  if (!diagnostics.empty() && (refused || !settings.quiet)) {
    say(format(diagnostics));
  }
  if (!errors && refused) say_error("warnings count as errors (--strict)");
  return !refused;
}

int execute(Pipeline pipeline, const std::string& title, const Settings& settings,
            const Invocation& invocation) {
  const ModelChoice choice = choose_model(settings, pipeline, invocation.environment);
  override_agents(pipeline, settings);
  const Destination destination = choose_destination(pipeline, settings, invocation.environment);
  refuse_inputs_as_reports(pipeline, settings, choice.path);
  for (const std::string& path : settings.reports) check_writable(path);

  RunCanceller canceller;
  // Before any thread, so that all of them leave the signals to this one.
  Interrupts interrupts;
  const std::shared_ptr<Progress> progress =
      begin_progress(pipeline, title, choice, settings, destination, invocation.environment);
  take_pipes(pipeline);

  const Model model = Model::load(model_options(settings, pipeline, choice));
  EngineOptions engine_settings = engine_options(settings, pipeline.model);
  RunOptions options = run_options(settings);
  const Plan plan = make_plan(model, pipeline, engine_settings, options);
  engine_settings.ctx_size = plan.ctx_size;
  engine_settings.parallel = plan.parallel;
  Engine engine(model, engine_settings);
  progress->model_loaded(model.describe(), model.load_ms(), engine.ctx_size());

  // A reader that went away wants no more text; a report still wants the whole run.
  const auto on_broken = [&canceller, keep = !settings.reports.empty()] {
    if (!keep) canceller.request();
  };
  std::shared_ptr<AnswerStream> stream;
  if (destination.streams) {
    stream = std::make_shared<AnswerStream>(destination.printed.front(),
                                            destination.stdout_is_terminal, on_broken);
  }
  options.observers.push_back(progress);
  if (stream) options.observers.push_back(stream);

  interrupts.on_first([&canceller] { canceller.request(); });
  Run run = engine.run(pipeline, options);
  const Attached attached(canceller, run);
  RunReport report = run.wait();
  interrupts.finishing();
  progress->finish();

  report.command = invocation.words;
  mark_interrupted(report, interrupts.signal());
  return deliver(report, settings, destination, stream.get());
}

}  // namespace swarmkv::cli
