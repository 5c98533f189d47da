#include "cli/pipeline_yaml.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "cli/options.h"
#include "cli/parse.h"

namespace swarmkv::cli {
namespace {

namespace fs = std::filesystem;

Settings ask(std::vector<std::string> flags) {
  flags.insert(flags.begin(), "ask");
  return parse_command_line(flags, [](const std::string&) { return std::nullopt; });
}

Pipeline pipeline_of(const Settings& settings, const std::vector<std::string>& questions,
                     const std::vector<std::string>& files = {"contract.txt"}) {
  std::vector<DocumentSpec> documents;
  for (const std::string& file : files) {
    documents.push_back({"document", file, {}, {}, {}});
  }
  Pipeline pipeline = ask_pipeline(documents, questions);
  override_pipeline(pipeline, settings);
  return pipeline;
}

const std::vector<std::string>& odd_texts() {
  static const std::vector<std::string> texts = {
      "He said \"no\": why?",
      "'single' and \\ back\\slash\\n",
      "two\nlines\n",
      "\n\n  indented\n\tand a tab \n",
      " leading and trailing ",
      "What is {{ x }}?",
      "{{",
      "}} {{ '{{' }}",
      "{% raw %}",
      "# no comment",
      "a #b: c",
      "---",
      "...",
      "--- a\n---\nb: c",
      "- a",
      "yes",
      "null",
      "~",
      "42",
      "1e3",
      "!tag",
      "&a *b",
      "| block",
      "> fold",
      "? key",
      "what? why? {? -? :?",
      "@x `y` %z",
      "[a, b]",
      "{a: b}",
      "<<",
      "file://notes.txt",
      "file://{{ x }}",
      "see file://notes.txt",
      "\r\n windows \r",
      "\x1b[2J \x07 \x7f \b\f\v",
      std::string("a\0z", 3),
      "\xc3\xbc\xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80",
      "\xef\xbb\xbf mark, \xc2\x85 next line, \xe2\x80\xa8 line, \xc2\xa0 space",
      std::string(5000, 'x') + " " + std::string(5000, 'y')};
  return texts;
}

TEST(PipelineYaml, KeepsEveryTextAsItIs) {
  for (const std::string& text : odd_texts()) {
    SCOPED_TRACE(text.substr(0, 60));
    const Settings settings = ask({"--system", text, "--stop", text});
    const Pipeline pipeline = pipeline_of(settings, {text, "Why?", text});

    const std::string yaml = pipeline_yaml(pipeline, settings, {}, "/nowhere");

    EXPECT_EQ(lost_in_yaml(pipeline, yaml), "") << yaml;
    const ParsedPipeline parsed = parse_pipeline(yaml, "p.yaml");
    ASSERT_TRUE(parsed.ok()) << format(parsed.diagnostics);
    ASSERT_EQ(parsed.pipeline.agents.size(), 3U);
    EXPECT_TRUE(parsed.pipeline.agents[0].needs.empty());
    EXPECT_EQ(parsed.pipeline.agents[0].stop, std::vector<std::string>{text});
  }
}

TEST(PipelineYaml, KnowsWhatCannotStandInAFile) {
  const Settings settings = ask({});
  for (const char* text : {"a\x01z", "\xff", "\xed\xa0\x80", "caf\xe9"}) {
    const Pipeline pipeline = pipeline_of(settings, {"Why?", text});
    EXPECT_NE(lost_in_yaml(pipeline, pipeline_yaml(pipeline, settings, {}, "/nowhere")), "")
        << text;
  }
  const Pipeline large = pipeline_of(settings, {std::string(std::size_t{1} << 20, 'x')});
  EXPECT_NE(lost_in_yaml(large, pipeline_yaml(large, settings, {}, "/nowhere")), "") << "1 MiB";
  const Pipeline named = pipeline_of(settings, {"Why?"}, {"a\xff.txt"});
  EXPECT_NE(lost_in_yaml(named, pipeline_yaml(named, settings, {}, "/nowhere")), "");
}

TEST(PipelineYaml, SaysWhatFlagsSaidAndNothingElse) {
  const fs::path here = fs::weakly_canonical(fs::current_path());
  const Settings settings = ask({"-c",
                                 "4096",
                                 "-ngl",
                                 "all",
                                 "-t",
                                 "2",
                                 "-np",
                                 "auto",
                                 "-ub",
                                 "64",
                                 "-ctk",
                                 "q8_0",
                                 "-n",
                                 "9",
                                 "--temp",
                                 "0.3",
                                 "--top-k",
                                 "5",
                                 "--top-p",
                                 "0.5",
                                 "--min-p",
                                 "0.00001",
                                 "--repeat-penalty",
                                 "2",
                                 "-s",
                                 "7",
                                 "--stop",
                                 "a, b",
                                 "--stop",
                                 "c",
                                 "--ignore-eos",
                                 "--snapshot",
                                 "auto",
                                 "--no-chat-template",
                                 "--deterministic",
                                 "--timeout",
                                 "5m"});
  const Pipeline pipeline =
      pipeline_of(settings, {"Why?"},
                  {"contract.txt", "sub/annex.txt", "/elsewhere/a.txt", "-", "./-", "LICENSE"});

  EXPECT_EQ(pipeline_yaml(pipeline, settings, {"models/a.gguf", "a", false}, here),
            "# Written by swarmkv ask --save.\n"
            "# For the same answers swarmkv run needs: --no-chat-template --deterministic\n"
            "version: 1\n"
            "model:\n"
            "  path: \"models/a.gguf\"\n"
            "  ctx_size: 4096\n"
            "  n_gpu_layers: all\n"
            "  threads: 2\n"
            "  batch_size: 64\n"
            "  cache_type_k: \"q8_0\"\n"
            "documents:\n"
            "  \"document\": { path: \"contract.txt\", snapshot: \"auto\" }\n"
            "  \"document_2\": { path: \"sub/annex.txt\", snapshot: \"auto\" }\n"
            "  \"document_3\": { path: \"/elsewhere/a.txt\", snapshot: \"auto\" }\n"
            "  \"document_4\": { path: \"-\", snapshot: \"auto\" }\n"
            "  \"document_5\": { path: \"./-\", snapshot: \"auto\" }\n"
            "  \"document_6\": { path: \"./LICENSE\", snapshot: \"auto\" }\n"
            "defaults:\n"
            "  max_tokens: 9\n"
            "  temperature: 0.3\n"
            "  top_k: 5\n"
            "  top_p: 0.5\n"
            "  min_p: 1e-05\n"
            "  repeat_penalty: 2\n"
            "  seed: 7\n"
            "  stop: [\"a, b\", \"c\"]\n"
            "  ignore_eos: true\n"
            "agents:\n"
            "  q1:\n"
            "    prompt: \"Why?\"\n");
  const Settings plain = ask({});
  EXPECT_EQ(pipeline_yaml(pipeline_of(plain, {"Why?"}), plain, {"/cache/m.gguf", "m", true}, here),
            "# Written by swarmkv ask --save.\nversion: 1\ndocuments:\n"
            "  \"document\": \"contract.txt\"\nagents:\n  q1:\n    prompt: \"Why?\"\n")
      << "a model that nobody chose is not chosen by the file either";
}

TEST(PipelineYaml, IsReadBackWithEverySetting) {
  const Settings settings = ask({"-c",
                                 "4096",
                                 "-ngl",
                                 "0",
                                 "-t",
                                 "2",
                                 "-tb",
                                 "3",
                                 "-b",
                                 "64",
                                 "-np",
                                 "4",
                                 "-fa",
                                 "on",
                                 "-ctk",
                                 "q8_0",
                                 "-ctv",
                                 "q8_0",
                                 "-n",
                                 "9",
                                 "--temp",
                                 "0.3",
                                 "--min-p",
                                 "0.00001",
                                 "-s",
                                 "4294967295",
                                 "--repeat-penalty",
                                 "1.1",
                                 "--ignore-eos=0",
                                 "--snapshot",
                                 "./kept"});
  const Pipeline pipeline = pipeline_of(settings, {"Why?"});
  const ModelChoice model{"/models/a.gguf", "a", false};
  const fs::path here = fs::weakly_canonical(fs::current_path());

  const ParsedPipeline parsed =
      parse_pipeline(pipeline_yaml(pipeline, settings, model, here), "p.yaml");

  ASSERT_TRUE(parsed.ok()) << format(parsed.diagnostics);
  const Settings none = ask({});
  const EngineOptions asked = engine_options(settings, {});
  const EngineOptions read = engine_options(none, parsed.pipeline.model);
  EXPECT_EQ(read.ctx_size, asked.ctx_size);
  EXPECT_EQ(read.parallel, asked.parallel);
  EXPECT_EQ(read.batch_size, asked.batch_size);
  EXPECT_EQ(read.threads, asked.threads);
  EXPECT_EQ(read.threads_batch, asked.threads_batch);
  EXPECT_EQ(read.cache_type_k, asked.cache_type_k);
  EXPECT_EQ(read.cache_type_v, asked.cache_type_v);
  EXPECT_EQ(read.flash_attn, asked.flash_attn);
  EXPECT_EQ(model_options(none, parsed.pipeline, {}).n_gpu_layers, 0);
  EXPECT_EQ(parsed.pipeline.model.path, "/models/a.gguf");
  const AgentSpec& before = pipeline.agents.at(0);
  const AgentSpec& after = parsed.pipeline.agents.at(0);
  EXPECT_EQ(after.max_tokens, before.max_tokens);
  EXPECT_EQ(after.sampling.temperature, before.sampling.temperature);
  EXPECT_EQ(after.sampling.min_p, before.sampling.min_p);
  EXPECT_EQ(after.sampling.repeat_penalty, before.sampling.repeat_penalty);
  EXPECT_EQ(after.sampling.seed, before.sampling.seed);
  EXPECT_EQ(after.seed_is_own, before.seed_is_own) << "each agent derives its own in both";
  EXPECT_EQ(after.ignore_eos, before.ignore_eos);
  EXPECT_EQ(parsed.pipeline.documents.at(0).snapshot, "./kept");
}

}  // namespace
}  // namespace swarmkv::cli
