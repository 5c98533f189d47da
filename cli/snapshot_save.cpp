#include "cli/snapshot_save.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/ask_document.h"
#include "cli/execute.h"
#include "cli/file_json.h"
#include "cli/interrupts.h"
#include "cli/messages.h"
#include "cli/model_lookup.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/planned_engine.h"
#include "cli/progress.h"
#include "cli/progress_render.h"
#include "cli/reading_pipeline.h"
#include "cli/run_canceller.h"
#include "cli/saved_prefixes.h"
#include "cli/snapshot_text.h"
#include "cli/title.h"
#include "swarmkv/engine.h"
#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

// Who asks for it waits for it, however slow the disk is.
constexpr std::chrono::hours kSaveTimeout{24};

// The one agent behind the document asks for nothing; only the document is news.
class DocumentNews : public Observer {
 public:
  explicit DocumentNews(std::shared_ptr<Progress> to) : to_(std::move(to)) {}
  void on_event(const Event& event) override {
    const bool is_news = event.type == EventType::kDocumentProgress ||
                         event.type == EventType::kDocumentReady || is_snapshot_news(event.type);
    if (is_news) to_->on_event(event);
  }

 private:
  const std::shared_ptr<Progress> to_;
};

// What is read in one run.
struct Reading {
  std::string title, file;
  bool is_pipeline = false;
  Pipeline pipeline;
};

std::vector<Reading> readings(const Settings& settings, const ParsedPipeline& parsed) {
  std::vector<Reading> out;
  if (!settings.arguments.empty()) {
    const std::string& file = settings.arguments.front();
    out.push_back({title_of(parsed.pipeline, file), file, true,
                   reading_of_pipeline(parsed.pipeline, settings)});
  }
  for (const std::string& file : settings.files) {
    out.push_back({document_title(file), file, false, reading_of_document(file, settings)});
  }
  return out;
}

std::shared_ptr<Progress> begin_progress(const Reading& reading, const ModelChoice& model,
                                         const Settings& settings, const Environment& environment) {
  const bool is_seen = is_terminal(STDERR_FILENO);
  ProgressOptions options;
  options.mode = progress_mode(settings.progress, settings.quiet, environment, is_seen);
  options.color = use_color(settings.color, environment, is_seen);
  ProgressState state = initial_state(reading.pipeline, reading.title, model.title());
  state.agents.clear();
  state.agent_index.clear();
  return make_progress(std::move(state), options);
}

class Saver {
 public:
  Saver(const Settings& settings, const ParsedPipeline& parsed, const Invocation& invocation)
      : settings_(settings),
        pipeline_(parsed.pipeline),
        environment_(invocation.environment),
        choice_(choose_model(settings, pipeline_, environment_)),
        readings_(readings(settings, parsed)),
        model_(Model::load(model_options(settings, pipeline_, choice_))) {
    interrupts_.on_first([this](const char* reason) { canceller_.request(reason); });
  }

  [[nodiscard]] const std::vector<Reading>& all() const { return readings_; }
  /// errors  those of reading, planning and running
  RunReport run(const Reading& reading);
  [[nodiscard]] int signal() const { return interrupts_.signal(); }

 private:
  const Settings& settings_;
  const Pipeline& pipeline_;  ///< empty without a file: its settings are those of the runs to come
  const Environment& environment_;
  RunCanceller canceller_;
  Interrupts interrupts_;  // before any thread: the model may have some
  const ModelChoice choice_;
  const std::vector<Reading> readings_;  // a pipe is read while a signal still ends the program
  const Model model_;
};

RunReport Saver::run(const Reading& reading) {
  const auto progress = begin_progress(reading, choice_, settings_, environment_);
  RunOptions options = run_options(settings_);
  options.snapshot.always_save = true;
  options.snapshot.save_timeout = kSaveTimeout;
  options.observers.push_back(std::make_shared<DocumentNews>(progress));
  PlannedEngine planned = planned_engine(
      model_, reading.pipeline, engine_options(settings_, pipeline_.model), options, *progress);
  Run run = planned.engine.run(planned.plan, options);
  const Attached attached(canceller_, run);
  RunReport report = run.wait();
  progress->finish();
  return report;
}

std::string result_line(const std::string& title, const SnapshotReport& s) {
  return escape_for_terminal(fmt::format(
             "{}: {} {} tokens, {}: {}", title, s.state == "saved" ? "saved" : "was there already,",
             with_commas(s.n_tokens), bytes_text(s.size_bytes), file_name(s.path))) +
         "\n";
}

// What one reading came to, and `code` for it.
std::vector<SavedDocument> saved_by(Saver& saver, const Reading& reading, int& code) {
  SavedDocument failed{reading.file, {}};
  try {
    const RunReport report = saver.run(reading);
    if (reading.is_pipeline) return saved_prefixes(report, code);
    return {saved_document(reading.file, report, code)};
  } catch (const Error& error) {  // what else there is to read is worth a try all the same
    failed.result.state = "failed";
    failed.result.reason = error.what();
    code = exit_code(error.code());
  }
  return {failed};
}

void tell(const std::string& title, const SnapshotReport& result, const Settings& settings) {
  if (result.state != "saved" && result.state != "restored") {
    say_error(title + ": not saved: " + result.reason.value_or(result.state));
  } else if (settings.output == "text") {
    write_all(STDOUT_FILENO, result_line(title, result), "standard output");
  }
}

void check(const Settings& settings) {
  if (settings.files.empty() && settings.arguments.empty()) {
    throw UsageError("snapshot save needs a document: -f FILE; or a pipeline file");
  }
  if (settings.arguments.size() > 1 || (!settings.files.empty() && !settings.arguments.empty())) {
    throw UsageError("snapshot save takes its documents with -f, or one pipeline file, but got '" +
                     settings.arguments.back() + "'");
  }
  const PipelineChanges& changes = settings.changes;
  const bool is_changed = !changes.vars.empty() || !changes.sets.empty() ||
                          !changes.select.empty() || !changes.exclude.empty();
  if (is_changed && settings.arguments.empty()) {
    throw UsageError(
        "--var, --set, --select and --exclude change a pipeline, but -f is a document");
  }
  const auto n_piped = std::count(settings.files.begin(), settings.files.end(), "-");
  if (n_piped > 1) throw UsageError("-f -: standard input holds one document, not several");
  for (const std::string& file : settings.files) (void)ask_document(file);
}

}  // namespace

int save_snapshots(const Settings& settings, const Invocation& invocation) {
  check(settings);
  ParsedPipeline parsed;
  if (!settings.arguments.empty()) {
    parsed = load_pipeline(settings.arguments.front(), settings.changes,
                           schema_check(settings.engine), check_document);
    if (!accept(parsed.diagnostics, settings, invocation.events)) return 2;
  }
  const SnapshotStore checked(snapshot_options(settings).folder);  // before hours of work
  Saver saver(settings, parsed, invocation);
  std::vector<SavedDocument> documents;
  int worst = 0;
  for (const Reading& reading : saver.all()) {
    int code = 0;
    for (SavedDocument& saved : saved_by(saver, reading, code)) {
      tell(reading.is_pipeline ? saved.document : reading.title, saved.result, settings);
      documents.push_back(std::move(saved));
    }
    worst = std::max(worst, code);
    if (saver.signal() != 0) break;
  }
  if (settings.output == "json") write_all(STDOUT_FILENO, to_json(documents), "standard output");
  return saver.signal() != 0 ? 128 + saver.signal() : worst;
}

}  // namespace swarmkv::cli
