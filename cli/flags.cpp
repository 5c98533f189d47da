#include "cli/flags.h"

#include <cctype>
#include <limits>

#include "cli/numbers.h"
#include "cli/report_format.h"

namespace swarmkv::cli {
namespace {

constexpr int kIntMax = std::numeric_limits<int>::max();
// The same limits as in a pipeline file, so that a flag is refused before anything is read.
// More layers than any model has: everything goes to the device.
constexpr int kAllLayers = 10'000;
constexpr int kMostThreads = 512;  // the runtime's own limit
constexpr int kMostParallel = 240;
constexpr int kMostBatch = 65'536;
constexpr int kMostCells = 100'000'000;
constexpr int kMostTokens = 1'000'000;
constexpr int kMostDocument = 16'777'216;
constexpr int kMostAgents = 10'000;
constexpr int kMostTrials = 100'000;
constexpr int kMostWarmup = 1'000;

// What a run takes its plan takes, too: it shapes the plan, or changes nothing there.
constexpr unsigned kRunning = kRun | kPlan;
constexpr unsigned kAnswering = kRunning | kAsk;
constexpr unsigned kSave = kSnapshot | kSnapshotSave;
constexpr unsigned kModelUsers = kAnswering | kBench;
constexpr unsigned kStore = kSnapshot | kSnapshotSave | kSnapshotList | kSnapshotShow |
                            kSnapshotVerify | kSnapshotRemove | kSnapshotPrune;
constexpr unsigned kTold = kSnapshot | kSnapshotSave | kSnapshotList | kSnapshotShow |
                           kSnapshotPrune;  // of the store, what can be told as JSON
constexpr unsigned kEverywhere =
    kModelUsers | kValidate | kInspect | kVersion | kHelp | kSchema | kCompletion | kStore;
constexpr unsigned kPipelineReaders = kRunning | kValidate;

using S = Settings;
using Text = const std::string&;

std::string cache_type(Text source, Text v) {
  return parse_choice(source, v, {"f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0"});
}

int gpu_layers(Text source, Text v) {
  return parse_int_or_word(source, v, {{"auto", -1}, {"all", kAllLayers}}, 0, kAllLayers);
}

// What the library chooses itself is 0 there; here it has a word, as in a pipeline file.
int count_or_auto(Text source, Text v, int max) {
  return parse_int_or_word(source, v, {{"auto", 0}}, 1, max);
}

void add_fake_answer(S& s, Text v, Text source) {
  const std::size_t equals = v.find('=');
  if (equals == std::string::npos) throw UsageError(source + " '" + v + "': must be WHEN=ANSWER");
  s.fake_answers.emplace_back(v.substr(0, equals), v.substr(equals + 1));
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

void add_pair(Pairs& pairs, Text v, Text source, const char* form) {
  const std::size_t equals = v.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError(source + " '" + v + "': must be " + form);
  }
  pairs.emplace_back(v.substr(0, equals), v.substr(equals + 1));
}

void add_names(std::vector<std::string>& names, Text v, Text source) {
  for (std::string& name : parse_names(source, v)) names.push_back(std::move(name));
}

void add_report(S& s, Text v, Text source) {
  (void)report_format(v, source);  // refuses names that say no format
  s.reports.push_back(v);
}

std::string output_format(const S& s, Text source, Text v) {
  if (s.command == "bench") return parse_choice(source, v, {"md", "json", "jsonl", "csv"});
  if (s.command == "plan") {
    return parse_choice(source, v, {"text", "json", "jsonl", "dot", "mermaid"});
  }
  if (s.command == "inspect" || s.command == "snapshot") {
    return parse_choice(source, v, {"text", "json"});
  }
  return parse_choice(source, v, {"text", "json", "jsonl"});
}

std::vector<std::string> arms(Text source, Text v) {
  std::vector<std::string> out = parse_names(source, v);
  for (const std::string& arm : out) {
    parse_choice(source, arm, {"shared", "recompute", "snapshot", "device"});
  }
  return out;
}

std::string snapshot_use(Text source, Text v) {
  if (v == "auto" || v == "off" || is_snapshot_file(v)) return v;
  throw UsageError(source + " '" + v +
                   "': must be auto, off or a file; one without a slash or a dot in its name is "
                   "written ./NAME");
}

std::string filled(Text source, Text v) {
  if (v.empty()) throw UsageError(source + ": the name is empty");
  return v;
}

std::string save_path(Text source, Text v) {
  if (v != "-") return filled(source, v);
  throw UsageError(source + " '-': standard output is for the answers; give a file");
}

std::string progress_mode(const S& s, Text source, Text v) {
  if (s.command == "snapshot") return parse_choice(source, v, {"auto", "tty", "plain", "none"});
  return parse_choice(source, v, {"auto", "tty", "plain", "jsonl", "none"});
}

constexpr auto kSwitch = Flag::Kind::kSwitch;
constexpr auto kValue = Flag::Kind::kValue;
constexpr auto kList = Flag::Kind::kList;
constexpr Bound kIn = Bound::kIncluded;
constexpr Bound kOut = Bound::kExcluded;

// clang-format off
const Flag kFlags[] = {
    // kind, name, letter, alias, other name, commands, environment, shown, apply
    {kValue, "model", 'm', "", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text) { s.model = v; }},
    {kValue, "ctx-size", 'c', "", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text f) { s.ctx_size = count_or_auto(f, v, kMostCells); }},
    {kValue, "n-gpu-layers", 0, "ngl", "gpu-layers", kModelUsers | kSave, true, true, [](S& s, Text v, Text f) { s.n_gpu_layers = gpu_layers(f, v); }},
    {kValue, "threads", 't', "", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text f) { s.threads = count_or_auto(f, v, kMostThreads); }},
    {kValue, "threads-batch", 0, "tb", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text f) { s.threads_batch = count_or_auto(f, v, kMostThreads); }},
    {kValue, "batch-size", 'b', "", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text f) { s.batch_size = parse_int(f, v, 1, kMostBatch); }},
    {kValue, "ubatch-size", 0, "ub", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text f) { s.ubatch_size = parse_int(f, v, 1, kMostBatch); }},
    {kValue, "flash-attn", 0, "fa", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text f) { s.flash_attn = parse_choice(f, v, {"on", "off", "auto"}); }},
    {kValue, "attention", 0, "", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text f) { s.attention = parse_choice(f, v, {"auto", "grouped", "stock"}); }},
    {kValue, "attention-target", 0, "", "", kBench, true, true, [](S& s, Text v, Text) { s.attention_target = v; }},
    {kValue, "cache-type-k", 0, "ctk", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text f) { s.cache_type_k = cache_type(f, v); }},
    {kValue, "cache-type-v", 0, "ctv", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text f) { s.cache_type_v = cache_type(f, v); }},
    {kValue, "parallel", 0, "np", "", kModelUsers, true, true, [](S& s, Text v, Text f) { s.parallel = count_or_auto(f, v, kMostParallel); }},
    {kValue, "engine", 0, "", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text f) { s.engine = parse_choice(f, v, {"llama", "fake"}); }},
    {kValue, "handoff", 0, "", "", kAnswering, true, true, [](S& s, Text v, Text f) { s.handoff = parse_choice(f, v, {"shared", "recompute", "snapshot", "device"}); }},
    {kSwitch, "deterministic", 0, "", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text) { s.deterministic = v == "1"; }},

    {kValue, "predict", 'n', "", "n-predict", kAnswering, true, true, [](S& s, Text v, Text f) { s.max_tokens = parse_int(f, v, 0, kMostTokens); }},
    {kValue, "temp", 0, "", "temperature", kModelUsers, true, true, [](S& s, Text v, Text f) { s.temperature = parse_real(f, v, 0, kIn, 100, kIn); }},
    {kValue, "top-k", 0, "", "", kModelUsers, true, true, [](S& s, Text v, Text f) { s.top_k = parse_int(f, v, 0, kMostTokens); }},
    {kValue, "top-p", 0, "", "", kModelUsers, true, true, [](S& s, Text v, Text f) { s.top_p = parse_real(f, v, 0, kOut, 1, kIn); }},
    {kValue, "min-p", 0, "", "", kModelUsers, true, true, [](S& s, Text v, Text f) { s.min_p = parse_real(f, v, 0, kIn, 1, kOut); }},
    {kValue, "repeat-penalty", 0, "", "", kModelUsers, true, true, [](S& s, Text v, Text f) { s.repeat_penalty = parse_real(f, v, 0, kOut, 100, kIn); }},
    {kValue, "seed", 's', "", "", kModelUsers, true, true, [](S& s, Text v, Text f) { s.seed = static_cast<std::uint32_t>(parse_integer(f, v, 0, std::numeric_limits<std::uint32_t>::max())); }},
    {kList, "stop", 0, "", "", kAnswering, false, true, [](S& s, Text v, Text f) { if (v.empty()) throw UsageError(f + ": an empty text would stop every answer at once"); s.stop.push_back(v); }},
    {kSwitch, "ignore-eos", 0, "", "", kModelUsers, true, true, [](S& s, Text v, Text) { s.ignore_eos = v == "1"; }},

    {kList, "file", 'f', "", "", kAsk | kBench | kSave, false, true, [](S& s, Text v, Text) { s.files.push_back(v); }},
    {kValue, "questions", 0, "", "", kAsk | kBench, false, true, [](S& s, Text v, Text) { s.questions = v; }},
    {kValue, "save", 0, "", "", kAsk, false, true, [](S& s, Text v, Text f) { s.save = save_path(f, v); }},
    {kValue, "system", 0, "", "", kAnswering | kSave, true, true, [](S& s, Text v, Text) { s.system = v; }},
    {kList, "var", 0, "", "", kPipelineReaders | kSave, false, true, [](S& s, Text v, Text f) { add_pair(s.changes.vars, v, f, "NAME=TEXT"); }},
    {kList, "set", 0, "", "", kPipelineReaders | kSave, false, true, [](S& s, Text v, Text f) { add_pair(s.changes.sets, v, f, "KEY=VALUE such as agents.risk.seed=1"); }},
    {kList, "select", 0, "", "", kPipelineReaders | kSave, false, true, [](S& s, Text v, Text f) { add_names(s.changes.select, v, f); }},
    {kList, "exclude", 0, "", "", kPipelineReaders | kSave, false, true, [](S& s, Text v, Text f) { add_names(s.changes.exclude, v, f); }},
    {kSwitch, "no-chat-template", 0, "", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text) { s.no_chat_template = v == "1"; }},
    {kValue, "template-date", 0, "", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text f) { s.template_date = parse_date(f, v); }},

    {kValue, "snapshot", 0, "", "", kAnswering, true, true, [](S& s, Text v, Text f) { s.snapshot = snapshot_use(f, v); }},
    {kValue, "snapshot-dir", 0, "", "", kAnswering | kStore, true, true, [](S& s, Text v, Text f) { s.snapshot_dir = filled(f, v); }},
    {kValue, "snapshot-limit", 0, "", "", kAnswering | kSave | kSnapshotPrune, true, true, [](S& s, Text v, Text f) { s.snapshot_limit = parse_size(f, v); }},
    {kSwitch, "all", 0, "", "", kSnapshot | kSnapshotVerify, false, true, [](S& s, Text v, Text) { s.all = v == "1"; }},

    {kValue, "document-tokens", 0, "npp", "", kBench, true, true, [](S& s, Text v, Text f) { s.document_tokens = parse_ints(f, v, 1, kMostDocument); }},
    {kValue, "agents", 0, "npl", "", kBench, true, true, [](S& s, Text v, Text f) { s.agents = parse_ints(f, v, 1, kMostAgents); }},
    {kValue, "output-tokens", 0, "ntg", "", kBench, true, true, [](S& s, Text v, Text f) { s.output_tokens = parse_ints(f, v, 0, kMostTokens); }},
    {kValue, "suffix-tokens", 0, "", "", kBench, true, true, [](S& s, Text v, Text f) { s.suffix_tokens = parse_ints(f, v, 1, kMostTokens); }},
    {kValue, "arms", 0, "", "", kBench, true, true, [](S& s, Text v, Text f) { s.arms = arms(f, v); }},
    {kValue, "trials", 'r', "", "", kBench, true, true, [](S& s, Text v, Text f) { s.trials = parse_int(f, v, 1, kMostTrials); }},
    {kValue, "warmup", 0, "", "", kBench, true, true, [](S& s, Text v, Text f) { s.warmup = parse_int(f, v, 0, kMostWarmup); }},
    {kList, "threshold", 0, "", "", kBench, false, true, [](S& s, Text v, Text) { s.thresholds.push_back(v); }},
    {kValue, "resume", 0, "", "", kBench, false, true, [](S& s, Text v, Text) { s.resume = v; }},
    {kSwitch, "compat", 0, "", "", kBench, false, true, [](S& s, Text v, Text) { s.compat = v == "1"; }},
    {kValue, "label", 0, "", "", kBench, true, true, [](S& s, Text v, Text) { s.label = v; }},

    {kValue, "output", 'o', "", "", kModelUsers | kInspect | kTold, false, true, [](S& s, Text v, Text f) { s.output = output_format(s, f, v); }},
    {kList, "report", 0, "", "", kAnswering, false, true, add_report},
    {kValue, "print", 0, "", "", kAnswering, false, true, [](S& s, Text v, Text) { s.print = v; }},
    {kSwitch, "stream", 0, "", "", kAnswering, false, true, [](S& s, Text v, Text) { s.stream = v == "1"; }},
    {kValue, "progress", 0, "", "", kAnswering | kSave, true, true, [](S& s, Text v, Text f) { s.progress = progress_mode(s, f, v); }},
    {kValue, "color", 0, "", "", kEverywhere, true, true, [](S& s, Text v, Text f) { s.color = parse_choice(f, v, {"auto", "always", "never"}); }},
    {kSwitch, "quiet", 'q', "", "", kModelUsers | kValidate | kSave, true, true, [](S& s, Text v, Text) { s.quiet = v == "1"; }},
    {kSwitch, "verbose", 'v', "", "", kModelUsers | kSave, true, true, [](S& s, Text v, Text) { s.verbose = v == "1"; }},
    {kValue, "verbosity", 0, "lv", "log-verbosity", kModelUsers | kSave, true, true, [](S& s, Text v, Text f) { s.verbosity = parse_int(f, v, 0, kIntMax); }},

    {kSwitch, "strict", 0, "", "", kAnswering | kValidate, true, true, [](S& s, Text v, Text) { s.strict = v == "1"; }},
    {kSwitch, "fail-fast", 0, "", "", kAnswering, true, true, [](S& s, Text v, Text) { s.fail_fast = v == "1"; }},
    {kValue, "timeout", 0, "", "", kAnswering, true, true, [](S& s, Text v, Text f) { s.timeout = parse_duration(f, v); }},
    {kSwitch, "help", 'h', "", "", kEverywhere, false, true, [](S& s, Text v, Text) { s.help = v == "1"; }},

    {kList, "fake-answer", 0, "", "", kModelUsers, false, false, add_fake_answer},
    {kValue, "fake-delay-ms", 0, "", "", kModelUsers | kSave, false, false, [](S& s, Text v, Text f) { s.fake_delay_ms = parse_int(f, v, 0, 60'000); }},
    {kValue, "fake-ctx-train", 0, "", "", kModelUsers | kSave, false, false, [](S& s, Text v, Text f) { s.fake_ctx_train = parse_int(f, v, 1, kIntMax); }},
    {kValue, "fake-cells-limit", 0, "", "", kModelUsers | kSave, false, false, [](S& s, Text v, Text f) { s.fake_cells_limit = parse_int(f, v, 1, kIntMax); }},
    {kValue, "fake-fail-at-forward", 0, "", "", kModelUsers | kSave, false, false, [](S& s, Text v, Text f) { s.fake_fail_at_forward = parse_int(f, v, 1, kIntMax); }},
};
// clang-format on

}  // namespace

std::span<const Flag> flags() { return kFlags; }

std::string environment_name(const Flag& flag) {
  std::string out = "SWARMKV_";
  for (const char c : flag.name) {
    out += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return out;
}

const Flag* find_flag(std::string_view spelling) {
  for (const Flag& flag : kFlags) {
    if (spelling.starts_with("--")) {
      const std::string_view name = spelling.substr(2);
      if (name == flag.name || (!flag.other_name.empty() && name == flag.other_name)) return &flag;
    } else if (spelling.starts_with("-")) {
      const std::string_view name = spelling.substr(1);
      if (!flag.alias.empty() && name == flag.alias) return &flag;
      if (flag.letter != 0 && name == std::string_view(&flag.letter, 1)) return &flag;
    }
  }
  return nullptr;
}

std::vector<std::string> spellings_of(const Flag& flag) {
  std::vector<std::string> out{"--" + std::string(flag.name)};
  if (!flag.other_name.empty()) out.push_back("--" + std::string(flag.other_name));
  if (!flag.alias.empty()) out.push_back("-" + std::string(flag.alias));
  if (flag.letter != 0) out.push_back(std::string("-") + flag.letter);
  return out;
}

std::vector<std::string> spellings(unsigned command) {
  std::vector<std::string> out;
  for (const Flag& flag : kFlags) {
    if ((flag.commands & command) == 0 || !flag.shown) continue;
    const std::vector<std::string> all = spellings_of(flag);
    out.insert(out.end(), all.begin(), all.end() - (flag.letter != 0 ? 1 : 0));
  }
  return out;
}

}  // namespace swarmkv::cli
