#include "cli/snapshot_save.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/ask_document.h"
#include "cli/file_json.h"
#include "cli/inputs.h"
#include "cli/interrupts.h"
#include "cli/messages.h"
#include "cli/model_lookup.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/planned_engine.h"
#include "cli/progress.h"
#include "cli/progress_render.h"
#include "cli/run_canceller.h"
#include "cli/snapshot_text.h"
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

// A pipeline that begins as every question about the document does, and asks none.
Pipeline reading(const std::string& file, const Settings& settings) {
  Pipeline pipeline = ask_pipeline(ask_document(file), {"?"});
  override_pipeline(pipeline, settings);
  pipeline.documents.front().snapshot = "auto";
  pipeline.agents.front().max_tokens = 0;
  take_pipes(pipeline);
  return pipeline;
}

std::vector<Pipeline> readings(const Settings& settings) {
  std::vector<Pipeline> out;
  for (const std::string& file : settings.files) out.push_back(reading(file, settings));
  return out;
}

std::shared_ptr<Progress> begin_progress(const Pipeline& pipeline, const std::string& file,
                                         const ModelChoice& model, const Settings& settings,
                                         const Environment& environment) {
  const bool is_seen = is_terminal(STDERR_FILENO);
  ProgressOptions options;
  options.mode = progress_mode(settings.progress, settings.quiet, environment, is_seen);
  options.color = use_color(settings.color, environment, is_seen);
  ProgressState state = initial_state(pipeline, document_title(file), model.title());
  state.agents.clear();
  state.agent_index.clear();
  return make_progress(std::move(state), options);
}

class Saver {
 public:
  Saver(const Settings& settings, const Invocation& invocation)
      : settings_(settings),
        environment_(invocation.environment),
        choice_(choose_model(settings, {}, environment_)),
        pipelines_(readings(settings)),
        model_(Model::load(model_options(settings, {}, choice_))) {
    interrupts_.on_first([this](const char* reason) { canceller_.request(reason); });
  }

  // errors  those of reading, planning and running
  RunReport run(std::size_t document);
  [[nodiscard]] int signal() const { return interrupts_.signal(); }

 private:
  const Settings& settings_;
  const Environment& environment_;
  RunCanceller canceller_;
  Interrupts interrupts_;  // before any thread: the model may have some
  const ModelChoice choice_;
  const std::vector<Pipeline> pipelines_;  // a pipe is read while a signal still ends the program
  const Model model_;
};

RunReport Saver::run(std::size_t document) {
  const Pipeline& pipeline = pipelines_[document];
  const auto progress =
      begin_progress(pipeline, settings_.files[document], choice_, settings_, environment_);
  RunOptions options = run_options(settings_);
  options.snapshot.always_save = true;
  options.snapshot.save_timeout = kSaveTimeout;
  options.observers.push_back(std::make_shared<DocumentNews>(progress));
  PlannedEngine planned =
      planned_engine(model_, pipeline, engine_options(settings_, {}), options, *progress);
  Run run = planned.engine.run(planned.plan, options);
  const Attached attached(canceller_, run);
  RunReport report = run.wait();
  progress->finish();
  return report;
}

// What came of a run; `code` becomes its exit code.
SnapshotReport result_of(const RunReport& report, int& code) {
  const AgentReport& agent = report.agents.front();
  const std::optional<SnapshotReport>& snapshot = report.documents.front().snapshot;
  if (agent.status == AgentStatus::kFinished && snapshot) {
    SnapshotReport out = *snapshot;
    const int n_all = report.documents.front().n_tokens;
    if (out.state == "restored" && out.n_tokens < n_all) {  // the rest was computed and not kept
      out.state = "skipped";
      out.reason = fmt::format("only {} of {} tokens are kept{}", with_commas(out.n_tokens),
                               with_commas(n_all), out.reason ? ": " + *out.reason : "");
    }
    const bool is_kept = out.state == "saved" || out.state == "restored";
    code = is_kept ? 0 : exit_code(ErrorCode::kUnwritable);
    return out;
  }
  SnapshotReport failed;
  failed.state = "failed";
  failed.reason = agent.error.value_or("it was not read");
  code = report.exit_code == 0 ? exit_code(ErrorCode::kInternal) : report.exit_code;
  return failed;
}

std::string result_line(const SavedDocument& saved) {
  const SnapshotReport& s = saved.result;
  return escape_for_terminal(fmt::format("{}: {} {} tokens, {}: {}", document_title(saved.document),
                                         s.state == "saved" ? "saved" : "was there already,",
                                         with_commas(s.n_tokens), bytes_text(s.size_bytes),
                                         file_name(s.path))) +
         "\n";
}

void check(const Settings& settings) {
  if (settings.files.empty()) throw UsageError("snapshot save needs a document: -f FILE");
  if (!settings.arguments.empty()) {
    throw UsageError("snapshot save takes its documents with -f, but got '" +
                     settings.arguments.front() + "'");
  }
  const auto n_piped = std::count(settings.files.begin(), settings.files.end(), "-");
  if (n_piped > 1) throw UsageError("-f -: standard input holds one document, not several");
  for (const std::string& file : settings.files) (void)ask_document(file);
}

}  // namespace

int save_snapshots(const Settings& settings, const Invocation& invocation) {
  check(settings);
  const SnapshotStore checked(snapshot_options(settings).folder);  // before hours of work
  Saver saver(settings, invocation);
  std::vector<SavedDocument> documents;
  int worst = 0;
  for (std::size_t i = 0; i < settings.files.size(); ++i) {
    const std::string& file = settings.files[i];
    SavedDocument& saved = documents.emplace_back(SavedDocument{file, {}});
    int code = 0;
    try {
      saved.result = result_of(saver.run(i), code);
    } catch (const Error& error) {  // the other documents are worth a try all the same
      saved.result.state = "failed";
      saved.result.reason = error.what();
      code = exit_code(error.code());
    }
    if (code != 0) {
      say_error(document_title(file) +
                ": not saved: " + saved.result.reason.value_or(saved.result.state));
    } else if (settings.output == "text") {
      write_all(STDOUT_FILENO, result_line(saved), "standard output");
    }
    worst = std::max(worst, code);
    if (saver.signal() != 0) break;
  }
  if (settings.output == "json") write_all(STDOUT_FILENO, to_json(documents), "standard output");
  return saver.signal() != 0 ? 128 + saver.signal() : worst;
}

}  // namespace swarmkv::cli
