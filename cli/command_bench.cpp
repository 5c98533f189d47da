#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/execute.h"
#include "cli/interrupts.h"
#include "cli/messages.h"
#include "cli/model_lookup.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/questions.h"
#include "cli/report_file.h"
#include "swarmkv/bench.h"
#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

template <typename T>
void replace_list(std::vector<T>& out, const std::vector<T>& flag) {
  if (!flag.empty()) out = flag;
}

BenchScenario scenario_of(const Settings& settings) {
  if (settings.arguments.size() > 1) {
    throw UsageError("bench takes one scenario file, but got " +
                     std::to_string(settings.arguments.size()) + ": '" + settings.arguments[0] +
                     "', '" + settings.arguments[1] + "'");
  }
  if (settings.arguments.empty()) return {};
  return load_bench_scenario(settings.arguments.front());
}

BenchOptions options_of(const Settings& s, const BenchScenario& scenario) {
  BenchOptions o = scenario.options;
  if (s.files.size() > 1) {
    throw UsageError("bench takes one document, but -f was given " +
                     std::to_string(s.files.size()) + " times");
  }
  if (!s.files.empty()) o.document = s.files.front();
  if (!s.files.empty() && o.document.empty()) {
    throw UsageError("-f: the name of the document is empty");
  }
  if (s.questions) {
    o.questions = read_questions(*s.questions);
    if (o.questions.empty()) {
      throw UsageError("no question: '" + *s.questions + "' has no line with text");
    }
  }
  replace_list(o.document_tokens, s.document_tokens);
  replace_list(o.suffix_tokens, s.suffix_tokens);
  replace_list(o.agents, s.agents);
  replace_list(o.output_tokens, s.output_tokens);
  replace_list(o.arms, s.arms);
  replace(o.trials, s.trials);
  replace(o.warmup, s.warmup);
  replace(o.ignore_eos, s.ignore_eos);
  replace(o.seed, s.seed);
  override_sampling(o.sampling, s);
  o.engine = engine_options(s, scenario.model);
  o.prompt = run_options(s);
  if (o.document.empty() && o.document_tokens.empty()) {
    throw UsageError("bench needs a document: -f FILE, or -npp N for a made-up one");
  }
  return o;
}

bool holds(const std::vector<std::string>& arms, const std::string& arm) {
  return std::find(arms.begin(), arms.end(), arm) != arms.end();
}

// What could only fail after hours of measuring is refused before.
std::vector<BenchThreshold> check_together(const Settings& settings, const BenchOptions& o) {
  std::vector<BenchThreshold> out;
  for (const std::string& text : settings.thresholds) {
    out.push_back(parse_threshold(text));
    for (const std::string& arm : {out.back().arm, out.back().over}) {
      if (!holds(o.arms, arm)) {
        throw UsageError(fmt::format("--threshold {}: the arm '{}' is not measured", text, arm));
      }
    }
  }
  if (!settings.compat) return out;
  const bool two_agents = std::find(o.agents.begin(), o.agents.end(), 2) != o.agents.end();
  if (!two_agents || !holds(o.arms, "recompute") || o.arms.size() < 2) {
    throw UsageError("--compat compares recompute with another arm, both with -npl 2");
  }
  return out;
}

// The samples of an earlier call, in their file; what was half written at its end is cut off.
std::vector<BenchTrial> take_up(const std::string& path, const BenchSetup& setup) {
  constexpr std::size_t kLargest = std::size_t{1} << 30;
  if (::access(path.c_str(), F_OK) != 0) return {};
  const std::string text = read_whole(path, kLargest);
  std::vector<BenchTrial> done = parse_bench_lines(text, setup);
  // A sample that was being written when the process ended; nobody else's last line.
  constexpr std::string_view kBegin = R"({"schema":"swarmkv.bench/1")";
  const std::size_t end = text.rfind('\n');
  const std::size_t n_whole = end == std::string::npos ? 0 : end + 1;
  const std::string_view rest = std::string_view(text).substr(n_whole);
  if (rest.substr(0, kBegin.size()) != kBegin.substr(0, rest.size())) {
    throw Error(ErrorCode::kCorrupt, "[bench.resume] '" + path + "' does not end in a sample");
  }
  if (!rest.empty()) ReportFile(path).write(std::string_view(text).substr(0, n_whole));
  return done;
}

std::string sample_line(const BenchTrial& t, std::size_t number, int n_all) {
  const std::string result =
      t.status == "finished" ? fmt::format("{:.2f} s", t.wall_ms / 1000) : "failed: " + t.error;
  return fit_for_terminal(fmt::format("[{}/{}] document {}, {} agents, output {}: {} {}", number,
                                      n_all, t.n_document, t.n_agents, t.n_output, t.arm, result),
                          400) +
         "\n";
}

std::string result_text(const std::vector<BenchTrial>& trials, const std::vector<BenchRow>& rows,
                        const BenchSetup& setup, const Settings& settings) {
  if (settings.compat) return to_compat(trials, setup, settings.label.value_or(""));
  if (settings.output == "json") return to_json(rows, trials, setup);
  if (settings.output == "csv") return to_csv(rows);
  return to_markdown(rows, setup);
}

}  // namespace

int command_bench(const Settings& settings, const Invocation& invocation) {
  const BenchScenario scenario = scenario_of(settings);
  if (!accept(scenario.diagnostics, settings)) return 2;
  const BenchOptions options = options_of(settings, scenario);
  const std::vector<BenchThreshold> thresholds = check_together(settings, options);
  Pipeline pipeline;
  pipeline.model = scenario.model;
  const ModelChoice choice = choose_model(settings, pipeline, invocation.environment);
  if (settings.resume) {
    std::vector<std::string> inputs{options.document, choice.path};
    if (settings.questions) inputs.push_back(*settings.questions);
    inputs.insert(inputs.end(), settings.arguments.begin(), settings.arguments.end());
    for (const std::string& input : inputs) {
      if (!is_same_file(*settings.resume, input)) continue;
      throw UsageError("--resume '" + *settings.resume + "' is an input of this run");
    }
    const ReportFile checked(*settings.resume);
  }

  if (::fcntl(STDOUT_FILENO, F_GETFD) < 0) {
    throw Error(ErrorCode::kUnwritable, "[bench] standard output is closed");
  }

  Interrupts interrupts;  // before any thread
  const Model model = Model::load(model_options(settings, pipeline, choice));
  Bench bench(model, options);
  std::vector<BenchTrial> done;
  if (settings.resume) done = bench.known(take_up(*settings.resume, bench.setup()));
  const int n_all = bench.n_trials();
  const auto tell = [&](const std::string& line) {
    if (!settings.quiet) say(line);
  };
  tell(fit_for_terminal(fmt::format("swarmkv bench: {} samples, {} known; model {}", n_all,
                                    done.size(), choice.title()),
                        400) +
       "\n");
  const bool raw = settings.output == "jsonl";
  std::size_t number = done.size();
  const auto show = [&](const std::string& line) {
    if (write_all(STDOUT_FILENO, line, "standard output")) return;
    if (!settings.resume) bench.cancel();  // the reader went away, and nobody else keeps them
  };
  if (raw) {
    for (const BenchTrial& trial : done) show(to_json_line(trial, bench.setup()));
  }
  interrupts.on_first([&bench](const char*) { bench.cancel(); });
  // An error must not leave the signal a bench that is gone.
  struct Detach {
    Interrupts& from;
    ~Detach() { from.finishing(); }
  } const detach{interrupts};
  const std::vector<BenchTrial> trials = bench.run(
      std::move(done),
      [&](const BenchTrial& trial) {
        const std::string line = to_json_line(trial, bench.setup());
        if (settings.resume) append_file(*settings.resume, line);
        if (raw) show(line);
        tell(sample_line(trial, ++number, n_all));
      },
      [&](const std::string& arm) { tell("warm-up: " + arm + "\n"); });

  const std::vector<BenchRow> rows = summarise(trials);
  int code = 0;
  for (const BenchRow& row : rows) {
    if (row.n_failed == 0) continue;
    code = 1;
    say_error(
        fit_for_terminal(fmt::format("{} of {} samples of {} with {} agents failed: {}",
                                     row.n_failed, row.n_trials, row.arm, row.n_agents, row.error),
                         400));
  }
  if (!raw) {
    try {
      write_all(STDOUT_FILENO, result_text(trials, rows, bench.setup(), settings),
                "standard output");
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidArgument) throw;
      say_error(error.what());  // the arm that failed
      code = 1;
    }
  }
  if (interrupts.signal() != 0) return 128 + interrupts.signal();
  for (const BenchThreshold& threshold : thresholds) {
    for (const std::string& miss : misses(threshold, rows)) {
      say_error("below the threshold: " + miss);
      code = 1;
    }
  }
  return code;
}

}  // namespace swarmkv::cli
