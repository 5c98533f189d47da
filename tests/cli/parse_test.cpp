#include "cli/parse.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>

#include "cli/flags.h"
#include "cli/options.h"

namespace swarmkv::cli {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment(Variables variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end() || found->second.empty()) return std::nullopt;
    return found->second;
  };
}

Settings parse(const std::vector<std::string>& args, Variables variables = {}) {
  return parse_command_line(args, environment(std::move(variables)));
}

std::string refusal(const std::vector<std::string>& args, Variables variables = {}) {
  try {
    parse(args, std::move(variables));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

// One row for each setting that a flag, a variable and a pipeline file can give. `read` shows the
// value that the library would get.
struct Precedence {
  const char* flag;
  const char* flag_value;
  const char* variable;
  const char* variable_value;
  std::function<void(Pipeline&)> file;
  std::function<std::string(const Settings&, const Pipeline&)> read;
  const char* from_flag;
  const char* from_variable;
  const char* from_file;
  const char* built_in;
  const char* set;  ///< of the pipeline's only agent or document, its model or itself
  const char* from_set;
};

template <typename Member>
auto engine_value(Member member) {
  return [member](const Settings& s, const Pipeline& p) {
    const EngineOptions options = engine_options(s, p.model);
    if constexpr (std::is_convertible_v<decltype(options.*member), std::string>) {
      return std::string(options.*member);
    } else {
      return std::to_string(options.*member);
    }
  };
}

template <typename Read>
auto agent_value(Read read) {
  return [read](const Settings& s, const Pipeline& given) {
    Pipeline pipeline = given;
    override_pipeline(pipeline, s);
    return read(pipeline.agents[0]);
  };
}

std::string number(double value) {
  std::string text = std::to_string(value);
  return text.substr(0, text.find('.') + 3);
}

std::vector<Precedence> precedence_table() {
  using E = EngineOptions;
  const auto model_file = [](auto set) { return [set](Pipeline& p) { set(p.model); }; };
  const auto agent_file = [](auto set) { return [set](Pipeline& p) { set(p.agents[0]); }; };
  return {
      {"-c", "100", "SWARMKV_CTX_SIZE", "200", model_file([](ModelSpec& m) { m.ctx_size = 300; }),
       engine_value(&E::ctx_size), "100", "200", "300", "0", "model.ctx_size=400", "400"},
      {"-ngl", "10", "SWARMKV_N_GPU_LAYERS", "all",
       model_file([](ModelSpec& m) { m.n_gpu_layers = 30; }),
       [](const Settings& s, const Pipeline& p) {
         return std::to_string(model_options(s, p, {}).n_gpu_layers);
       },
       "10", "10000", "30", "-1", "model.n_gpu_layers=40", "40"},
      {"-t", "1", "SWARMKV_THREADS", "2", model_file([](ModelSpec& m) { m.threads = 3; }),
       engine_value(&E::threads), "1", "2", "3", "0", "model.threads=4", "4"},
      {"-tb", "1", "SWARMKV_THREADS_BATCH", "2",
       model_file([](ModelSpec& m) { m.threads_batch = 3; }), engine_value(&E::threads_batch), "1",
       "2", "3", "0", "model.threads_batch=4", "4"},
      {"-b", "64", "SWARMKV_BATCH_SIZE", "128",
       model_file([](ModelSpec& m) { m.batch_size = 256; }), engine_value(&E::batch_size), "64",
       "128", "256", "512", "model.batch_size=32", "32"},
      {"-ub", "64", "SWARMKV_UBATCH_SIZE", "128",
       model_file([](ModelSpec& m) { m.batch_size = 256; }), engine_value(&E::batch_size), "64",
       "128", "256", "512", "model.batch_size=32", "32"},
      {"-np", "1", "SWARMKV_PARALLEL", "2", model_file([](ModelSpec& m) { m.parallel = 3; }),
       engine_value(&E::parallel), "1", "2", "3", "0", "model.parallel=4", "4"},
      {"-fa", "on", "SWARMKV_FLASH_ATTN", "off",
       model_file([](ModelSpec& m) { m.flash_attn = "on"; }), engine_value(&E::flash_attn), "on",
       "off", "on", "auto", "model.flash_attn=on", "on"},
      {"-ctk", "q8_0", "SWARMKV_CACHE_TYPE_K", "bf16",
       model_file([](ModelSpec& m) { m.cache_type_k = "f32"; }), engine_value(&E::cache_type_k),
       "q8_0", "bf16", "f32", "f16", "model.cache_type_k=q4_0", "q4_0"},
      {"-ctv", "q8_0", "SWARMKV_CACHE_TYPE_V", "bf16",
       model_file([](ModelSpec& m) { m.cache_type_v = "f32"; }), engine_value(&E::cache_type_v),
       "q8_0", "bf16", "f32", "f16", "model.cache_type_v=q4_0", "q4_0"},
      {"-n", "1", "SWARMKV_PREDICT", "2", agent_file([](AgentSpec& a) { a.max_tokens = 3; }),
       agent_value([](const AgentSpec& a) { return std::to_string(a.max_tokens); }), "1", "2", "3",
       "512", "agents.a.max_tokens=4", "4"},
      {"--temp", "0.1", "SWARMKV_TEMP", "0.2",
       agent_file([](AgentSpec& a) { a.sampling.temperature = 0.3; }),
       agent_value([](const AgentSpec& a) { return number(a.sampling.temperature); }), "0.10",
       "0.20", "0.30", "0.00", "agents.a.temperature=0.4", "0.40"},
      {"--top-k", "1", "SWARMKV_TOP_K", "2", agent_file([](AgentSpec& a) { a.sampling.top_k = 3; }),
       agent_value([](const AgentSpec& a) { return std::to_string(a.sampling.top_k); }), "1", "2",
       "3", "40", "defaults.top_k=4", "4"},
      {"--top-p", "0.1", "SWARMKV_TOP_P", "0.2",
       agent_file([](AgentSpec& a) { a.sampling.top_p = 0.3; }),
       agent_value([](const AgentSpec& a) { return number(a.sampling.top_p); }), "0.10", "0.20",
       "0.30", "0.95", "agents.a.top_p=0.4", "0.40"},
      {"--min-p", "0.1", "SWARMKV_MIN_P", "0.2",
       agent_file([](AgentSpec& a) { a.sampling.min_p = 0.3; }),
       agent_value([](const AgentSpec& a) { return number(a.sampling.min_p); }), "0.10", "0.20",
       "0.30", "0.05", "defaults={min_p: 0.4}", "0.40"},
      {"--repeat-penalty", "1.1", "SWARMKV_REPEAT_PENALTY", "1.2",
       agent_file([](AgentSpec& a) { a.sampling.repeat_penalty = 1.3; }),
       agent_value([](const AgentSpec& a) { return number(a.sampling.repeat_penalty); }), "1.10",
       "1.20", "1.30", "1.00", "agents.a.repeat_penalty=1.4", "1.40"},
      {"-s", "1", "SWARMKV_SEED", "2", agent_file([](AgentSpec& a) { a.sampling.seed = 3; }),
       agent_value([](const AgentSpec& a) { return std::to_string(a.sampling.seed); }), "1", "2",
       "3", "42", "agents.a.seed=4", "4"},
      {"--system", "flag", "SWARMKV_SYSTEM", "variable", [](Pipeline& p) { p.system = "file"; },
       [](const Settings& s, const Pipeline& given) {
         Pipeline pipeline = given;
         override_pipeline(pipeline, s);
         return pipeline.system;
       },
       "flag", "variable", "file", "", "system=set", "set"},
      {"--snapshot", "auto", "SWARMKV_SNAPSHOT", "off",
       [](Pipeline& p) {
         p.documents.resize(1);
         p.documents[0].snapshot = "./file";
       },
       [](const Settings& s, const Pipeline& given) {
         Pipeline pipeline = given;
         pipeline.documents.resize(1);
         override_pipeline(pipeline, s);
         return pipeline.documents[0].snapshot;
       },
       "auto", "off", "./file", "", "documents.d.snapshot=./set", "./set"},
      {"-m", "flag.gguf", "SWARMKV_MODEL", "variable.gguf",
       [](Pipeline& p) { p.model.path = "/file.gguf"; },
       [](const Settings& s, const Pipeline& p) {
         try {
           return choose_model(s, p, environment({{"SWARMKV_CACHE", "/nowhere"}})).path;
         } catch (const UsageError&) {
           return std::string("none");
         }
       },
       "flag.gguf", "variable.gguf", "/file.gguf", "none", "model.path=/set.gguf", "/set.gguf"},
  };
}

Pipeline with_sets(const Settings& settings) {
  constexpr const char* kFile =
      "{version: 1, documents: {d: {path: d.txt}}, agents: {a: {prompt: Why?}, b: {prompt: How?, "
      "max_tokens: 9}}}";
  ParsedPipeline parsed = parse_pipeline(kFile, "p.yaml", settings.changes);
  EXPECT_TRUE(parsed.ok()) << format(parsed.diagnostics);
  return std::move(parsed.pipeline);
}

TEST(Parse, PrefersFlagThenSetThenEnvironmentThenFileThenDefault) {
  for (const Precedence& row : precedence_table()) {
    SCOPED_TRACE(row.flag);
    Pipeline plain, file;
    plain.agents.resize(1);
    file.agents.resize(1);
    row.file(file);
    const Variables variables = {{row.variable, row.variable_value}};

    EXPECT_EQ(row.read(parse({"run", row.flag, row.flag_value}, variables), file), row.from_flag);
    EXPECT_EQ(row.read(parse({"run"}, variables), file), row.from_variable);
    EXPECT_EQ(row.read(parse({"run"}), file), row.from_file);
    EXPECT_EQ(row.read(parse({"run"}), plain), row.built_in);

    const Settings set = parse({"run", "--set", row.set}, variables);
    EXPECT_EQ(row.read(set, with_sets(set)), row.from_set);
    const Settings both = parse({"run", "--set", row.set, row.flag, row.flag_value}, variables);
    EXPECT_EQ(row.read(both, with_sets(both)), row.from_flag);
    const Settings neither = parse({"run"}, variables);
    EXPECT_EQ(row.read(neither, with_sets(neither)), row.from_variable);
  }
}

TEST(Parse, AVariableReachesEveryAgentButThoseThatSetChanged) {
  const auto lengths = [](const std::vector<std::string>& sets, const Variables& variables) {
    std::vector<std::string> words = {"run"};
    for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
    const Settings settings = parse(words, variables);
    Pipeline pipeline = with_sets(settings);
    override_pipeline(pipeline, settings);
    return std::to_string(pipeline.agents[0].max_tokens) + "," +
           std::to_string(pipeline.agents[1].max_tokens);
  };
  const Variables seven = {{"SWARMKV_PREDICT", "7"}};

  EXPECT_EQ(lengths({}, {}), "512,9");
  EXPECT_EQ(lengths({}, seven), "7,7");
  EXPECT_EQ(lengths({"agents.a.max_tokens=3"}, seven), "3,7");
  EXPECT_EQ(lengths({"agents.a.temperature=1"}, seven), "7,7") << "another key";
  EXPECT_EQ(lengths({"defaults.max_tokens=3"}, seven), "3,7") << "b has a value of its own";
  EXPECT_EQ(lengths({"defaults.max_tokens=3"}, {}), "3,9");
  EXPECT_EQ(lengths({"agents.b={prompt: x, max_tokens: 4}"}, seven), "7,4");
}

TEST(Parse, ASwitchOfTheCommandLineBeatsTheFilesInBothDirections) {
  const auto ignores = [](const std::vector<std::string>& args, const Variables& variables) {
    const Settings settings = parse(args, variables);
    Pipeline pipeline = with_sets(settings);
    override_pipeline(pipeline, settings);
    return pipeline.agents[0].ignore_eos;
  };
  const std::string on = "agents.a.ignore_eos=true", off = "agents.a.ignore_eos=false";

  EXPECT_TRUE(ignores({"run", "--set", on}, {{"SWARMKV_IGNORE_EOS", "0"}}));
  EXPECT_FALSE(ignores({"run", "--set", off}, {{"SWARMKV_IGNORE_EOS", "1"}}));
  EXPECT_FALSE(ignores({"run", "--set", on, "--ignore-eos=0"}, {}));
  EXPECT_TRUE(ignores({"run", "--set", off, "--ignore-eos"}, {}));
}

TEST(Parse, CoversEveryNumericModelFlagInThePrecedenceTable) {
  std::map<std::string, int> covered;
  for (const Precedence& row : precedence_table()) ++covered[row.variable];
  // Settings of the terminal and the run that no pipeline file has.
  for (const char* name :
       {"ENGINE", "DETERMINISTIC", "IGNORE_EOS", "NO_CHAT_TEMPLATE", "TEMPLATE_DATE", "PROGRESS",
        "COLOR", "QUIET", "VERBOSE", "VERBOSITY", "STRICT", "FAIL_FAST", "TIMEOUT", "HANDOFF",
        "ATTENTION", "SNAPSHOT_DIR", "SNAPSHOT_LIMIT"}) {
    ++covered[std::string("SWARMKV_") + name];
  }
  for (const Flag& flag : flags()) {
    if (flag.commands == kBench) continue;  // another file: CoversEveryFlagOfBench
    if (flag.environment) {
      EXPECT_EQ(covered[environment_name(flag)], 1) << flag.name;
    }
  }
}

TEST(Parse, CoversEveryFlagOfBench) {
  const std::vector<std::string> words = {"bench",
                                          "-npp",
                                          "64,128",
                                          "-npl",
                                          "1,2",
                                          "-ntg",
                                          "0,8",
                                          "--suffix-tokens",
                                          "6,4",
                                          "--arms",
                                          "shared,device",
                                          "-r",
                                          "3",
                                          "--warmup",
                                          "0",
                                          "--threshold",
                                          "a/b=1",
                                          "--threshold",
                                          "c/d=2",
                                          "--resume",
                                          "x.jsonl",
                                          "--compat",
                                          "--label",
                                          "here"};
  const Settings s = parse(words);
  EXPECT_EQ(s.document_tokens, (std::vector<int>{64, 128}));
  EXPECT_EQ(s.agents, (std::vector<int>{1, 2}));
  EXPECT_EQ(s.output_tokens, (std::vector<int>{0, 8}));
  EXPECT_EQ(s.suffix_tokens, (std::vector<int>{6, 4}));
  EXPECT_EQ(s.arms, (std::vector<std::string>{"shared", "device"}));
  EXPECT_EQ(s.trials, 3);
  EXPECT_EQ(s.warmup, 0);
  EXPECT_EQ(s.thresholds, (std::vector<std::string>{"a/b=1", "c/d=2"}));
  EXPECT_EQ(s.resume, "x.jsonl");
  EXPECT_TRUE(s.compat);
  EXPECT_EQ(s.label, "here");
  const Settings other = parse({"bench", "-npl", "4"}, {{"SWARMKV_AGENTS", "1,2"},
                                                        {"SWARMKV_DOCUMENT_TOKENS", "32"},
                                                        {"SWARMKV_OUTPUT_TOKENS", "1"},
                                                        {"SWARMKV_SUFFIX_TOKENS", "2"},
                                                        {"SWARMKV_ARMS", "device"},
                                                        {"SWARMKV_TRIALS", "7"},
                                                        {"SWARMKV_WARMUP", "2"},
                                                        {"SWARMKV_LABEL", "there"}});
  EXPECT_EQ(other.agents, std::vector<int>{4}) << "a flag beats the environment";
  EXPECT_EQ(other.document_tokens, std::vector<int>{32});
  EXPECT_EQ(other.output_tokens, std::vector<int>{1});
  EXPECT_EQ(other.suffix_tokens, std::vector<int>{2});
  EXPECT_EQ(other.arms, std::vector<std::string>{"device"});
  EXPECT_EQ(other.trials, 7);
  EXPECT_EQ(other.warmup, 2);
  EXPECT_EQ(other.label, "there");
  EXPECT_FALSE(other.ignore_eos.has_value()) << "bench has a default of its own";
}

TEST(Parse, TakesSwitchesFromTheEnvironmentAndLetsFlagsTakeThemBack) {
  EXPECT_TRUE(parse({"run"}, {{"SWARMKV_STRICT", "1"}}).strict);
  EXPECT_FALSE(parse({"run"}, {{"SWARMKV_STRICT", "0"}}).strict);
  EXPECT_FALSE(parse({"run", "--strict=false"}, {{"SWARMKV_STRICT", "1"}}).strict);
  EXPECT_EQ(refusal({"run"}, {{"SWARMKV_STRICT", "maybe"}}),
            "SWARMKV_STRICT 'maybe': must be 1 or 0");
}

TEST(Parse, NamesTheVariableWhoseValueIsWrong) {
  EXPECT_EQ(refusal({"run"}, {{"SWARMKV_THREADS", "many"}}),
            "SWARMKV_THREADS 'many': must be auto or a whole number from 1 to 512");
}

TEST(Parse, RefusesValuesOutOfRangeWithBothValues) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"-c", "-1"}, "--ctx-size '-1': must be auto or a whole number from 1 to 100000000"},
      {{"-c", "2147483648"},
       "--ctx-size '2147483648': must be auto or a whole number from 1 to 100000000"},
      {{"-b", "0"}, "--batch-size '0': must be a whole number from 1 to 65536"},
      {{"-t", "4096"}, "--threads '4096': must be auto or a whole number from 1 to 512"},
      {{"-t", "2x"}, "--threads '2x': must be auto or a whole number from 1 to 512"},
      {{"-t", ""}, "--threads '': must be auto or a whole number from 1 to 512"},
      {{"-n", "-1"}, "--predict '-1': must be a whole number from 0 to 1000000"},
      {{"-np", "300"}, "--parallel '300': must be auto or a whole number from 1 to 240"},
      {{"-np", "0"}, "--parallel '0': must be auto or a whole number from 1 to 240"},
      {{"-t", "0"}, "--threads '0': must be auto or a whole number from 1 to 512"},
      {{"-tb", "0"}, "--threads-batch '0': must be auto or a whole number from 1 to 512"},
      {{"-c", "0"}, "--ctx-size '0': must be auto or a whole number from 1 to 100000000"},
      {{"-ngl", "x"}, "--n-gpu-layers 'x': must be auto, all or a whole number from 0 to 10000"},
      {{"--temp", "nan"}, "--temp 'nan': must be a number from 0 and up to 100"},
      {{"--temp", "-1"}, "--temp '-1': must be a number from 0 and up to 100"},
      {{"--top-p", "0"}, "--top-p '0': must be a number above 0 and up to 1"},
      {{"--min-p", "1"}, "--min-p '1': must be a number from 0 and below 1"},
      {{"-s", "-1"}, "--seed '-1': must be a whole number from 0 to 4294967295"},
      {{"-fa", "yes"}, "--flash-attn 'yes': must be one of on, off, auto"},
      {{"-ctv", "q4"},
       "--cache-type-v 'q4': must be one of f32, f16, bf16, q8_0, q5_1, q5_0, "
       "q4_1, q4_0"},
      {{"--timeout", "90"},
       "--timeout '90': must be a time above 0 with its unit, for example 500ms, 90s, 5m or 1h"},
      {{"--template-date", "2026-02-30"},
       "--template-date '2026-02-30': must be a date such as 2026-01-31"},
      {{"--stop", ""}, "--stop: an empty text would stop every answer at once"},
      {{"--fake-answer", "x"}, "--fake-answer 'x': must be WHEN=ANSWER"},
      {{"--report", "out"},
       "--report 'out': the name must end in .json, .jsonl, .md, .html, .csv or .trace.json"},
      {{"-o", "xml"}, "--output 'xml': must be one of text, json, jsonl"},
      {{"--progress", "jsonl", "-v"},
       "--verbose writes the model's log between the event lines of --progress jsonl"},
      {{"--progress", "jsonl", "-lv", "2"},
       "--verbosity writes the model's log between the event lines of --progress jsonl"},
      {{"--stream", "-o", "jsonl"}, "--stream writes text as it comes, but --output is jsonl"},
      {{"-b", "64", "-ub", "32"},
       "--batch-size 64 and --ubatch-size 32 differ: a forward is one ubatch here, so they must be "
       "equal"},
      {{"-ctv", "q8_0", "-fa", "off"},
       "--cache-type-v q8_0 needs flash attention, but --flash-attn is off"},
      {{"--stream", "-o", "json"}, "--stream writes text as it comes, but --output is json"},
  };
  for (const auto& [args, message] : cases) {
    std::vector<std::string> words = {"run"};
    words.insert(words.end(), args.begin(), args.end());
    EXPECT_EQ(refusal(words), message);
  }
}

TEST(Parse, AcceptsTheEdgesOfEveryRange) {
  const Settings s =
      parse({"run", "-c",     "100000000",  "-b",   "1",       "-t",        "512",
             "-n",  "0",      "--temp",     "0",    "--top-p", "1",         "--min-p",
             "0",   "--seed", "4294967295", "-ngl", "auto",    "--timeout", "500ms"});

  EXPECT_EQ(s.ctx_size, 100000000);
  EXPECT_EQ(s.max_tokens, 0);
  EXPECT_EQ(s.seed, 4294967295U);
  EXPECT_EQ(s.n_gpu_layers, -1);
  EXPECT_EQ(s.timeout, std::chrono::milliseconds(500));
  EXPECT_EQ(parse({"run", "--timeout", "1.5m"}).timeout, std::chrono::seconds(90));
}

TEST(Parse, TakesAutoForWhatTheLibraryCanChoose) {
  const Settings s = parse({"run", "-c", "auto", "-np", "auto", "-t", "auto", "-tb", "auto"});

  EXPECT_EQ(s.ctx_size, 0);
  EXPECT_EQ(s.parallel, 0);
  EXPECT_EQ(s.threads, 0);
  EXPECT_EQ(s.threads_batch, 0);
  EXPECT_EQ(parse({"run", "-ngl", "0"}).n_gpu_layers, 0) << "no layer is an answer, too";
}

TEST(Parse, TheModelsLogIsOffUnlessAskedFor) {
  const auto has_log = [](const std::vector<std::string>& args, const Variables& variables = {}) {
    return model_options(parse(args, variables), {}, {}).log != nullptr;
  };
  EXPECT_FALSE(has_log({"run"}));
  for (const char* command : {"run", "ask", "plan", "bench"}) EXPECT_TRUE(has_log({command, "-v"}));
  EXPECT_TRUE(has_log({"run"}, {{"SWARMKV_VERBOSE", "1"}}));
  EXPECT_FALSE(has_log({"run", "--verbose=0"}, {{"SWARMKV_VERBOSE", "1"}}));
  EXPECT_TRUE(has_log({"run", "-lv", "1"}));
  EXPECT_TRUE(has_log({"run", "--log-verbosity=4"}));
  EXPECT_FALSE(has_log({"run", "-v", "-lv", "0"}));
  EXPECT_EQ(parse({"run", "-lv", "0", "--progress", "jsonl"}).verbosity, 0) << "nothing is shown";
}

TEST(Parse, TheAttentionKernelReachesTheEngine) {
  const auto attention = [](const std::vector<std::string>& args, const Variables& variables = {}) {
    return engine_options(parse(args, variables), {}).attention;
  };
  EXPECT_EQ(attention({"run"}), "auto");
  for (const char* command : {"run", "ask", "plan", "bench"}) {
    EXPECT_EQ(attention({command, "--attention", "grouped"}), "grouped");
  }
  EXPECT_EQ(attention({"run"}, {{"SWARMKV_ATTENTION", "stock"}}), "stock");
  EXPECT_EQ(attention({"run", "--attention", "auto"}, {{"SWARMKV_ATTENTION", "stock"}}), "auto");
}

TEST(Parse, SuggestsTheNearestFlagAndCommand) {
  EXPECT_EQ(refusal({"run", "--temmp", "1"}), "unknown flag '--temmp'; did you mean '--temp'?");
  EXPECT_EQ(refusal({"ask", "--quesions=x"}),
            "unknown flag '--quesions'; did you mean '--questions'?");
  EXPECT_EQ(refusal({"rnu"}), "unknown command 'rnu'; did you mean 'run'?");
  EXPECT_EQ(refusal({"run", "--xylophone"}), "unknown flag '--xylophone'");
  EXPECT_EQ(refusal({"validate", "-m", "x"}), "'validate' does not take --model");
}

TEST(Parse, KeepsChangesOfThePipelineInTheirOrder) {
  const Settings settings =
      parse({"run", "--var", "a=1=2", "--set", "agents.x.stop=[a, b]", "--var=b=", "--select",
             "x,+y", "--exclude", "z", "--select", "w"});

  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(settings.changes.vars, (Pairs{{"a", "1=2"}, {"b", ""}}));
  EXPECT_EQ(settings.changes.sets, (Pairs{{"agents.x.stop", "[a, b]"}}));
  EXPECT_EQ(settings.changes.select, (std::vector<std::string>{"x", "+y", "w"}));
  EXPECT_EQ(settings.changes.exclude, std::vector<std::string>{"z"});
  EXPECT_EQ(refusal({"run", "--var", "a"}), "--var 'a': must be NAME=TEXT");
  EXPECT_EQ(refusal({"run", "--set", "=a"}),
            "--set '=a': must be KEY=VALUE such as agents.risk.seed=1");
}

TEST(Parse, RefusesWhatIsNotBuiltYetByName) {
  for (const char* command : {"retry", "shell", "serve"}) {
    EXPECT_EQ(refusal({command}), "'" + std::string(command) + "' is not built yet");
  }
}

TEST(Parse, SavesIntoAFileOnlyAndOnlyWhatIsAsked) {
  EXPECT_EQ(parse({"ask", "--save", "x.yaml"}).save, "x.yaml");
  EXPECT_EQ(refusal({"ask", "--save", "-"}),
            "--save '-': standard output is for the answers; give a file");
  EXPECT_EQ(refusal({"ask", "--save", ""}), "--save: the name is empty");
  EXPECT_EQ(refusal({"run", "--save", "x"}), "'run' does not take --save");
}

TEST(Parse, ReadsSizesWithTheirUnits) {
  const auto limit = [](const std::string& text) {
    return parse({"run", "--snapshot-limit", text}).snapshot_limit;
  };
  EXPECT_EQ(limit("0"), 0U);
  EXPECT_EQ(limit("1048577"), 1048577U);
  EXPECT_EQ(limit("3KiB"), 3072U);
  EXPECT_EQ(limit("1.5MiB"), 1572864U);
  EXPECT_EQ(limit("20GiB"), std::uint64_t{20} << 30);
  EXPECT_EQ(limit("2TiB"), std::uint64_t{2} << 40);
  EXPECT_EQ(limit("5KB"), 5000U);
  EXPECT_EQ(limit("0.5MB"), 500'000U);
  EXPECT_EQ(limit("7GB"), 7'000'000'000U);
  EXPECT_EQ(limit("1TB"), 1'000'000'000'000U);
  EXPECT_EQ(limit("9223372036854775807"), 9223372036854775807U);
  for (const char* bad :
       {"", "-1", "-1KiB", "20G", "20gib", "GiB", " 1", "1 GiB", "1.5", "nanGiB", "infGB",
        "9223372036854775808", "8388608TiB", "0x10", "1e400MB", "20GiB "}) {
    EXPECT_NE(refusal({"run", "--snapshot-limit", bad}).find("must be bytes, or a number"),
              std::string::npos)
        << bad;
  }
}

TEST(Parse, TheWordBehindSnapshotDecidesAboutFlags) {
  const Settings save = parse({"snapshot", "save", "-f", "a", "-f", "b", "-m", "m.gguf"},
                              {{"SWARMKV_SNAPSHOT_DIR", "kept"}});
  EXPECT_EQ(save.command, "snapshot");
  EXPECT_EQ(save.verb, "save");
  EXPECT_EQ(save.files, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(save.snapshot_dir, "kept");

  EXPECT_TRUE(parse({"snapshot", "verify", "--all"}).all);
  EXPECT_EQ(parse({"snapshot", "rm", "5f0c", "77aa"}).arguments,
            (std::vector<std::string>{"5f0c", "77aa"}));
  EXPECT_EQ(parse({"snapshot"}).verb, "");
  EXPECT_TRUE(parse({"snapshot", "save", "--help"}).help);
  EXPECT_EQ(refusal({"snapshot", "list", "-f", "a"}), "'snapshot list' does not take --file");
  EXPECT_EQ(refusal({"snapshot", "rm", "--all"}), "'snapshot rm' does not take --all");
  EXPECT_EQ(refusal({"snapshot", "show", "--snapshot-limit", "5"}),
            "'snapshot show' does not take --snapshot-limit");
  EXPECT_EQ(refusal({"snapshot", "lsit"}),
            "unknown word 'lsit' behind snapshot; did you mean 'list'?");
  EXPECT_EQ(refusal({"snapshot", "save", "--progress", "jsonl"}),
            "--progress 'jsonl': must be one of auto, tty, plain, none");
}

TEST(Parse, AVariableCountsOnlyWhereItsFlagIsTaken) {
  const std::map<std::string, std::string> broken = {
      {"SWARMKV_SNAPSHOT_LIMIT", "much"}, {"SWARMKV_THREADS", "0"}, {"SWARMKV_SNAPSHOT", "on"}};
  EXPECT_EQ(parse({"snapshot", "list"}, broken).command, "snapshot");
  EXPECT_EQ(parse({"validate"}, broken).command, "validate");
  EXPECT_NE(refusal({"snapshot", "prune"}, broken).find("SWARMKV_SNAPSHOT_LIMIT 'much'"),
            std::string::npos);
}

TEST(Parse, ASnapshotIsAWordOrAPath) {
  for (const char* good : {"auto", "off", "a.swkv", "kept/a", "./auto", "/a"}) {
    EXPECT_EQ(parse({"ask", "--snapshot", good}).snapshot, good);
  }
  for (const char* bad : {"on", "Auto", "a", "", "-"}) {
    EXPECT_EQ(refusal({"ask", "--snapshot", bad}),
              "--snapshot '" + std::string(bad) +
                  "': must be auto, off or a file; one without a slash or a dot in its name is "
                  "written ./NAME");
  }
  EXPECT_EQ(refusal({"ask"}, {{"SWARMKV_SNAPSHOT", "on"}}).substr(0, 21), "SWARMKV_SNAPSHOT 'on'");
}

TEST(Parse, TheCommandLinesSnapshotHoldsForEveryDocument) {
  const auto after = [](const std::vector<std::string>& args,
                        const std::map<std::string, std::string>& variables = {}) {
    Pipeline pipeline;
    pipeline.folder = "elsewhere";
    pipeline.documents.resize(2);
    pipeline.documents[0].snapshot = "auto";
    override_pipeline(pipeline, parse(args, variables));
    return pipeline.documents[0].snapshot + "," + pipeline.documents[1].snapshot;
  };
  const std::string file = (std::filesystem::current_path() / "a.swkv").string();

  EXPECT_EQ(after({"run"}), "auto,");
  EXPECT_EQ(after({"run", "--snapshot", "off"}), "off,off");
  EXPECT_EQ(after({"run"}, {{"SWARMKV_SNAPSHOT", "off"}}), "off,off");
  EXPECT_EQ(after({"run", "--snapshot", "auto"}, {{"SWARMKV_SNAPSHOT", "off"}}), "auto,auto");
  EXPECT_EQ(after({"run", "--snapshot", "a.swkv"}), file + "," + file)
      << "not the pipeline's folder: the flag was typed here";
}

TEST(Parse, TheStoreIsWhereAndAsLargeAsTheFlagsSay) {
  const SnapshotOptions plain = run_options(parse({"run"})).snapshot;
  const SnapshotOptions given =
      run_options(parse({"run", "--snapshot-dir", "kept", "--snapshot-limit", "5MB"})).snapshot;

  EXPECT_EQ(refusal({"run", "--snapshot-dir", ""}), "--snapshot-dir: the name is empty");
  EXPECT_EQ(plain.folder, "");
  EXPECT_EQ(plain.limit_bytes, SnapshotOptions().limit_bytes);
  EXPECT_FALSE(plain.always_save);
  EXPECT_EQ(given.folder, (std::filesystem::current_path() / "kept").string());
  EXPECT_EQ(given.limit_bytes, 5'000'000U);
}

TEST(Parse, MissesTheValueOfTheLastFlag) {
  EXPECT_EQ(refusal({"run", "-m"}), "-m needs a value");
  EXPECT_EQ(refusal({"run", "x.yaml", "--temp"}), "--temp needs a value");
}

TEST(Parse, KeepsPromptsExactlyAsTyped) {
  const std::vector<std::string> prompts = {
      "[a,b]", "What is {{ x }}?", "-5 degrees?", "a=b", "x\ny", "\"quoted\"", "{}", "%%", "++"};
  std::vector<std::string> args = {"ask", "-f", "doc"};
  args.insert(args.end(), prompts.begin(), prompts.end());
  args.insert(args.end(), {"--", "--temp", "-ngl"});
  std::vector<std::string> expected = prompts;
  expected.insert(expected.end(), {"--temp", "-ngl"});

  EXPECT_EQ(parse(args).arguments, expected);
}

TEST(Parse, GrowsListsAndTakesTheLastOfAnythingElse) {
  const Settings s = parse({"ask", "-f", "a", "-f", "b", "--stop", "[END]", "--stop", "x,y",
                            "--temp", "1", "--temp", "2"});

  EXPECT_EQ(s.files, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(s.stop, (std::vector<std::string>{"[END]", "x,y"}));
  EXPECT_EQ(s.temperature, 2);
}

TEST(Parse, ShowsHelpWhateverElseIsWrong) {
  EXPECT_TRUE(parse({"run", "--help", "--temp", "hot"}, {{"SWARMKV_SEED", "x"}}).help);
  EXPECT_TRUE(parse({"ask", "-h"}).help);
  EXPECT_EQ(parse({"--help"}).command, "help");
  EXPECT_EQ(parse({"--version"}).command, "version");
}

TEST(Parse, SaysThatTheCommandComesFirst) {
  EXPECT_EQ(refusal({}), "no command given");
  EXPECT_EQ(refusal({"-m", "x"}), "the command comes first, for example: swarmkv ask -m ...");
}

}  // namespace
}  // namespace swarmkv::cli
