#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "support/golden.h"
#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace {

using std::chrono::milliseconds;

ParsedPipeline parse(std::string_view yaml) {
  ParsedPipeline parsed = parse_pipeline(yaml, "folder/test.yaml");
  EXPECT_TRUE(parsed.ok()) << format(parsed.diagnostics);
  return parsed;
}

TEST(ParsePipeline, ReadsEveryKeyOfTheModel) {
  const ModelSpec model = parse(R"(
version: 1
model:
  path: models/a.gguf
  ctx_size: 4096
  n_gpu_layers: 12
  threads: 3
  threads_batch: 4
  batch_size: 256
  parallel: 16
  cache_type_k: q8_0
  cache_type_v: bf16
  flash_attn: on
agents: { a: { prompt: x } }
)")
                              .pipeline.model;

  EXPECT_EQ(model.path, "models/a.gguf");
  EXPECT_EQ(model.ctx_size, 4096);
  EXPECT_EQ(model.n_gpu_layers, 12);
  EXPECT_EQ(model.threads, 3);
  EXPECT_EQ(model.threads_batch, 4);
  EXPECT_EQ(model.batch_size, 256);
  EXPECT_EQ(model.parallel, 16);
  EXPECT_EQ(model.cache_type_k, "q8_0");
  EXPECT_EQ(model.cache_type_v, "bf16");
  EXPECT_EQ(model.flash_attn, "on");
  EXPECT_EQ(model.pos.line, 3);
}

TEST(ParsePipeline, LeavesWhatIsNotGivenUnset) {
  const Pipeline pipeline = parse("version: 1\nagents: { a: { prompt: x } }\n").pipeline;

  EXPECT_FALSE(pipeline.model.ctx_size.has_value());
  EXPECT_FALSE(pipeline.model.n_gpu_layers.has_value());
  EXPECT_TRUE(pipeline.model.path.empty());
  EXPECT_TRUE(pipeline.documents.empty());
  EXPECT_EQ(pipeline.name, "pipeline");
  EXPECT_EQ(pipeline.folder, "folder");
  EXPECT_EQ(pipeline.agents[0].max_tokens, 512);
  EXPECT_EQ(pipeline.agents[0].sampling, Sampling{});
  EXPECT_FALSE(pipeline.agents[0].seed_is_own);
}

TEST(ParsePipeline, ReadsAutoAndAll) {
  const Pipeline pipeline =
      parse(
          "version: 1\nmodel: { ctx_size: auto, n_gpu_layers: all }\nagents: { a: { prompt: x } }")
          .pipeline;
  const Pipeline automatic =
      parse("version: 1\nmodel: { n_gpu_layers: auto }\nagents: { a: { prompt: x } }").pipeline;

  EXPECT_EQ(pipeline.model.ctx_size, 0);
  EXPECT_GE(pipeline.model.n_gpu_layers, 1000);
  EXPECT_EQ(automatic.model.n_gpu_layers, -1);
}

TEST(ParsePipeline, LetsAgentsOverrideDefaultsKeyByKey) {
  const Pipeline pipeline = parse(R"(
version: 1
system: Be brief.
agents:
  plain: { prompt: x }
  own:
    prompt: y
    system: Be strict.
    max_tokens: 7
    temperature: 0.3
    seed: 9
    stop: [END, "###"]
    timeout: 1m30s
    priority: -2
    ignore_eos: false
defaults:
  { max_tokens: 100, temperature: 1, top_k: 5, top_p: 0.5, min_p: 0, repeat_penalty: 1.1,
    repeat_last_n: 8, seed: 4294967295, stop: X, timeout: 500ms, priority: 3, ignore_eos: true }
)")
                                .pipeline;
  const AgentSpec& plain = pipeline.agents[0];
  const AgentSpec& own = pipeline.agents[1];

  EXPECT_EQ(pipeline.system, "Be brief.");
  EXPECT_EQ(plain.max_tokens, 100);
  EXPECT_EQ(plain.sampling.temperature, 1);
  EXPECT_EQ(plain.sampling.top_k, 5);
  EXPECT_EQ(plain.sampling.top_p, 0.5);
  EXPECT_EQ(plain.sampling.min_p, 0);
  EXPECT_EQ(plain.sampling.repeat_penalty, 1.1);
  EXPECT_EQ(plain.sampling.repeat_last_n, 8);
  EXPECT_EQ(plain.sampling.seed, 4294967295u);
  EXPECT_FALSE(plain.seed_is_own);
  EXPECT_EQ(plain.stop, std::vector<std::string>{"X"});
  EXPECT_EQ(plain.timeout, milliseconds(500));
  EXPECT_EQ(plain.priority, 3);
  EXPECT_TRUE(plain.ignore_eos);

  EXPECT_EQ(own.system, "Be strict.");
  EXPECT_EQ(own.max_tokens, 7);
  EXPECT_EQ(own.sampling.temperature, 0.3);
  EXPECT_EQ(own.sampling.top_k, 5);
  EXPECT_EQ(own.sampling.seed, 9u);
  EXPECT_TRUE(own.seed_is_own);
  EXPECT_EQ(own.stop, (std::vector<std::string>{"END", "###"}));
  EXPECT_EQ(own.timeout, milliseconds(90'000));
  EXPECT_EQ(own.priority, -2);
  EXPECT_FALSE(own.ignore_eos);
}

TEST(ParsePipeline, ReadsADocumentInEachOfItsForms) {
  const Pipeline path = parse("version: 1\ndocument: a.txt\nagents: { a: { prompt: x } }").pipeline;
  const Pipeline mapping =
      parse("version: 1\ndocument: { path: b.txt }\nagents: { a: { prompt: x } }").pipeline;
  const Pipeline named =
      parse("version: 1\ndocuments: { deed: { path: c.txt } }\nagents: { a: { prompt: x } }")
          .pipeline;

  ASSERT_EQ(path.documents.size(), 1u);
  EXPECT_EQ(path.documents[0].name, "document");
  EXPECT_EQ(path.documents[0].path, "a.txt");
  EXPECT_EQ(mapping.documents.at(0).path, "b.txt");
  EXPECT_EQ(named.documents.at(0).name, "deed");
  EXPECT_EQ(named.documents.at(0).path, "c.txt");
}

TEST(ParsePipeline, ReadsWhereADocumentsSnapshotIs) {
  const Pipeline pipeline = parse(R"(
version: 1
documents:
  a: a.txt
  b: { path: b.txt, snapshot: auto }
  c: { snapshot: off, path: c.txt }
  d: { path: d.txt, snapshot: kept/d.swkv }
  e: { path: e.txt, snapshot: ./auto }
agents: { x: { prompt: x } }
)")
                                .pipeline;

  std::vector<std::string> found;
  for (const DocumentSpec& document : pipeline.documents) found.push_back(document.snapshot);
  EXPECT_EQ(found, (std::vector<std::string>{"", "auto", "off", "kept/d.swkv", "./auto"}));
}

TEST(ParsePipeline, AddsNeedsThatPromptsImplyAfterThoseThatAreGiven) {
  const Pipeline pipeline = parse(R"(
version: 1
agents:
  a: { prompt: x }
  b: { prompt: y }
  join:
    needs: b
    prompt: |
      {{ b }} then {{ a }}
      {{a}} again
)")
                                .pipeline;

  EXPECT_EQ(pipeline.agents[2].needs, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(pipeline.agents[2].key_pos.at("needs.b").line, 7);
  EXPECT_EQ(pipeline.agents[2].key_pos.at("needs.a").line, 9);
  EXPECT_EQ(pipeline.agents[2].key_pos.at("needs.a").column, 20);
}

TEST(ParsePipeline, ReadsSeveralDocumentsInTheOrderOfTheFile) {
  const Pipeline pipeline = parse(R"(
version: 1
documents: { deed: deed.txt, annex: { path: annex.txt } }
defaults: { reads: [deed] }
agents:
  plain: { prompt: x }
  both: { prompt: x, reads: [annex, deed] }
  one: { prompt: x, reads: annex }
  none: { prompt: x, reads: [] }
  next: { prompt: x, continues: both }
)")
                                .pipeline;
  using Names = std::vector<std::string>;

  ASSERT_EQ(pipeline.documents.size(), 2u);
  EXPECT_EQ(pipeline.documents[1].path, "annex.txt");
  EXPECT_EQ(pipeline.agents[0].reads, Names{"deed"});
  EXPECT_EQ(pipeline.agents[1].reads, (Names{"annex", "deed"}));
  EXPECT_EQ(pipeline.agents[2].reads, Names{"annex"});
  EXPECT_EQ(pipeline.agents[3].reads, Names{});
  EXPECT_FALSE(pipeline.agents[4].reads) << "it goes on with what 'both' has read";
  EXPECT_EQ(pipeline.agents[4].continues, "both");
  EXPECT_EQ(pipeline.agents[4].needs, Names{"both"});
}

TEST(ParsePipeline, LeavesReadsUnsetWhereNothingIsSaid) {
  EXPECT_FALSE(parse("version: 1\nagents: { a: { prompt: x } }").pipeline.agents[0].reads);
}

TEST(ParsePipeline, ReadsWhereAnAgentStartsInEachOfItsForms) {
  const Pipeline pipeline = parse(R"(
version: 1
agents:
  a: { prompt: x, ready_after: 4000 }
  b: { prompt: x, ready_after: 25% }
  c: { prompt: x, ready_after: "12.5%" }
  d: { prompt: x, ready_after: { before: "SCHEDULE A" } }
  e: { prompt: x }
)")
                                .pipeline;
  using Kind = ReadyAfter::Kind;

  EXPECT_EQ(pipeline.agents[0].ready_after, (ReadyAfter{Kind::kTokens, 4000, ""}));
  EXPECT_EQ(pipeline.agents[1].ready_after, (ReadyAfter{Kind::kPercent, 25, ""}));
  EXPECT_EQ(pipeline.agents[2].ready_after, (ReadyAfter{Kind::kPercent, 12.5, ""}));
  EXPECT_EQ(pipeline.agents[3].ready_after, (ReadyAfter{Kind::kBefore, 0, "SCHEDULE A"}));
  EXPECT_EQ(pipeline.agents[4].ready_after.kind, Kind::kEnd);
}

TEST(ParsePipeline, ReadsOptionalNeeds) {
  const Pipeline pipeline = parse(R"(
version: 1
agents:
  a: { prompt: x }
  b: { prompt: x }
  c: { prompt: x }
  memo:
    needs: [a, { agent: b, required: false }, { agent: c }]
    prompt: "{{ a }} {{ b | default('none') }} {{ c }}"
  short: { needs: { agent: a, required: false }, prompt: "{{ a | default('') }}" }
)")
                                .pipeline;
  using Names = std::vector<std::string>;

  EXPECT_EQ(pipeline.agents[3].needs, (Names{"a", "b", "c"}));
  EXPECT_EQ(pipeline.agents[3].optional_needs, Names{"b"});
  EXPECT_EQ(pipeline.agents[4].needs, Names{"a"});
  EXPECT_EQ(pipeline.agents[4].optional_needs, Names{"a"});
}

TEST(ParsePipeline, KeepsVarsAsTheyWereWritten) {
  const Pipeline pipeline = parse(R"(
version: 1
vars: { buyer: Acme Ltd, limit: 1.50, code: "007", big: 123456789012345678901234567890, x-own: [1] }
system: You work for {{ vars.buyer }}.
agents:
  a:
    prompt: "{{ vars.limit }} {{ vars.big }}"
    system: "{{ vars.code }}"
)")
                                .pipeline;

  EXPECT_EQ(pipeline.vars,
            (std::map<std::string, std::string>{{"big", "123456789012345678901234567890"},
                                                {"buyer", "Acme Ltd"},
                                                {"code", "007"},
                                                {"limit", "1.50"}}));
}

TEST(ParsePipeline, TurnsASchemaInYamlIntoJson) {
  const Pipeline pipeline = parse(R"(
version: 1
agents:
  a:
    prompt: x
    json_schema:
      type: object
      required: [name, n]
      properties:
        name: { type: string, pattern: "^\"x" }
        n: { type: integer, minimum: +05, maximum: .5e1, default: null, nullable: True }
  b: { prompt: x, json_schema: '{"type": "object"}' }
)")
                                .pipeline;

  EXPECT_EQ(pipeline.agents[0].sampling.json_schema,
            R"({"type":"object","required":["name","n"],"properties":{"name":{"type":"string",)"
            R"("pattern":"^\"x"},"n":{"type":"integer","minimum":5,"maximum":5,"default":null,)"
            R"("nullable":true}}})");
  EXPECT_EQ(pipeline.agents[1].sampling.json_schema, R"({"type": "object"})");
}

TEST(ParsePipeline, KeepsQuestionMarksInTextWithoutQuotes) {
  const Pipeline pipeline = parse(R"(
version: 1
agents:
  a: { prompt: Who are the parties?, stop: [What?, "Q?"] }
  b: { prompt: Qui est-ce ? }
  c: { prompt: 'a ? b', system: "c? d" }
  d:
    prompt: |
      ? first
      really?
  ? e
  : prompt: a key with a mark
)")
                                .pipeline;

  EXPECT_EQ(pipeline.agents[0].prompt, "Who are the parties?");
  EXPECT_EQ(pipeline.agents[0].stop, (std::vector<std::string>{"What?", "Q?"}));
  EXPECT_EQ(pipeline.agents[1].prompt, "Qui est-ce ?");
  EXPECT_EQ(pipeline.agents[2].prompt, "a ? b");
  EXPECT_EQ(pipeline.agents[2].system, "c? d");
  EXPECT_EQ(pipeline.agents[3].prompt, "? first\nreally?\n");
  EXPECT_EQ(pipeline.agents[4].name, "e");
}

TEST(ParsePipeline, UnderstandsAnchorsAndAliases) {
  const Pipeline pipeline = parse(R"(
version: 1
agents:
  a: { prompt: &ask Name the risks., stop: &stops [A, B] }
  b: { prompt: *ask, stop: *stops }
)")
                                .pipeline;

  EXPECT_EQ(pipeline.agents[1].prompt, "Name the risks.");
  EXPECT_EQ(pipeline.agents[1].stop, (std::vector<std::string>{"A", "B"}));
}

TEST(ParsePipeline, IgnoresKeysThatStartWithXAtEveryLevel) {
  parse(R"(
version: 1
x-note: [1, { a: b }]
model: { x-a: 1 }
documents: { d: { path: p, x-b: 2 }, x-c: 3 }
defaults: { x-d: 4 }
agents:
  x-template: { anything: goes }
  a: { prompt: x, x-e: 5 }
)");
}

TEST(ParsePipeline, SkipsAByteOrderMarkAndCountsColumnsAfterIt) {
  parse("\xEF\xBB\xBFversion: 1\nagents: { a: { prompt: x } }\n");

  const ParsedPipeline wrong =
      parse_pipeline("\xEF\xBB\xBFversion: 1\nagents: { a: { oops: x } }\n", "f");

  ASSERT_FALSE(wrong.diagnostics.empty());
  EXPECT_EQ(wrong.diagnostics[0].pos.line, 2);
}

TEST(ParsePipeline, ListsGraphErrorsAndKeyErrorsInOnePass) {
  const ParsedPipeline parsed = parse_pipeline(
      "version: 1\nagents:\n  a: { prompt: '{{ b }}', oops: 1 }\n  b: { prompt: '{{ a }}' }\n",
      "f");

  ASSERT_EQ(parsed.diagnostics.size(), 4u);
  EXPECT_EQ(parsed.diagnostics[0].code, "SK203");
  EXPECT_EQ(parsed.diagnostics[3].code, "SK101");
}

TEST(ParsePipeline, AcceptsTheShippedExamples) {
  const std::filesystem::path folder = testing::golden_path("../../examples");
  int n_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    ++n_files;
    const ParsedPipeline parsed = load_pipeline(entry.path().string());
    EXPECT_TRUE(parsed.diagnostics.empty()) << format(parsed.diagnostics);
    const std::filesystem::path document = parsed.pipeline.documents.at(0).path;
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(parsed.pipeline.folder) / document));
  }
  EXPECT_GE(n_files, 3);
}

}  // namespace
}  // namespace swarmkv
