// --var and --set: values that are put over a file and read as if they stood in it.
#include <gtest/gtest.h>

#include <string>

#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kFile = R"(
version: 1
vars: { buyer: Acme, limit: 5 }
defaults: { max_tokens: 100 }
documents: { deed: deed.txt }
agents:
  ask: &ask { prompt: "For {{ vars.buyer }} below {{ vars.limit }}?", temperature: 1 }
  again: *ask
)";

ParsedPipeline change(Pairs sets, Pairs vars = {}) {
  PipelineChanges changes;
  changes.sets = std::move(sets);
  changes.vars = std::move(vars);
  return parse_pipeline(kFile, "test.yaml", changes);
}

Pipeline good(Pairs sets, Pairs vars = {}) {
  ParsedPipeline parsed = change(std::move(sets), std::move(vars));
  EXPECT_TRUE(parsed.diagnostics.empty()) << format(parsed.diagnostics);
  return std::move(parsed.pipeline);
}

std::string problem(Pairs sets, Pairs vars = {}) {
  return format(change(std::move(sets), std::move(vars)).diagnostics);
}

TEST(Changes, SetKeysThatTheFileHas) {
  const Pipeline pipeline = good({{"agents.ask.temperature", "0.5"},
                                  {"defaults.max_tokens", "7"},
                                  {"documents.deed", "other.txt"},
                                  {"vars.limit", "9"}});

  EXPECT_EQ(pipeline.agents[0].sampling.temperature, 0.5);
  EXPECT_EQ(pipeline.agents[0].max_tokens, 7);
  EXPECT_EQ(pipeline.documents[0].path, "other.txt");
  EXPECT_EQ(pipeline.vars.at("limit"), "9");
}

TEST(Changes, SetKeysThatTheFileDoesNotHave) {
  const Pipeline pipeline = good({{"name", "night run"},
                                  {"model.threads", "3"},
                                  {"agents.ask.stop", "[END, 'a: b']"},
                                  {"agents.ask.ready_after", "{ before: ANNEX }"},
                                  {"agents.ask.output_file", "out/ask.md"},
                                  {"system", "Note: be brief #1"}});

  EXPECT_EQ(pipeline.name, "night run");
  EXPECT_EQ(pipeline.model.threads, 3);
  EXPECT_EQ(pipeline.agents[0].stop, (std::vector<std::string>{"END", "a: b"}));
  EXPECT_EQ(pipeline.agents[0].ready_after.text, "ANNEX");
  EXPECT_EQ(pipeline.agents[0].output_file, "out/ask.md");
  EXPECT_EQ(pipeline.system, "Note: be brief #1") << "a text, not YAML";
}

TEST(Changes, FillAKeyWithoutAValue) {
  PipelineChanges changes;
  changes.sets = {{"model.threads", "3"}, {"vars.who", "you"}};
  const ParsedPipeline parsed = parse_pipeline(
      "version: 1\nmodel:\nvars:\nagents: { a: { prompt: '{{ vars.who }}' } }\n", "f", changes);

  EXPECT_TRUE(parsed.diagnostics.empty()) << format(parsed.diagnostics);
  EXPECT_EQ(parsed.pipeline.model.threads, 3);
  EXPECT_EQ(parsed.pipeline.vars.at("who"), "you");
}

TEST(Changes, ReachOneAgentOfThoseThatShareAnAlias) {
  const Pipeline pipeline = good({{"agents.again.temperature", "0"}});

  EXPECT_EQ(pipeline.agents[0].sampling.temperature, 1);
  EXPECT_EQ(pipeline.agents[1].sampling.temperature, 0);
}

TEST(Changes, LetTheLastOfTwoCount) {
  EXPECT_EQ(good({{"name", "a"}, {"name", "b"}}).name, "b");
  EXPECT_EQ(good({{"vars.buyer", "a"}}, {{"buyer", "b"}, {"buyer", "c"}}).vars.at("buyer"), "c");
}

TEST(Changes, TakeAVarAsTextWhateverItHolds) {
  const Pipeline pipeline = good({}, {{"buyer", "[a: {{ x }} 5 #"}, {"limit", ""}});

  EXPECT_EQ(pipeline.vars.at("buyer"), "[a: {{ x }} 5 #");
  EXPECT_EQ(pipeline.vars.at("limit"), "");
}

TEST(Changes, TakeAPromptThatStartsWithATemplate) {
  const Pipeline pipeline =
      good({{"agents.again.prompt", "{{ ask }}, and {{ vars.buyer }}: {{ vars.limit }}?"}});

  EXPECT_EQ(pipeline.agents[1].needs, std::vector<std::string>{"ask"});
}

TEST(Changes, AreNamedWhereTheyAreWrong) {
  EXPECT_EQ(problem({{"agents.ask.temperature", "hot"}}),
            "--set agents.ask.temperature=hot: error: 'temperature' must be a number, found the "
            "text 'hot' [SK104]\n");
  EXPECT_EQ(problem({{"agents.ask.max_tokens", "-1"}}),
            "--set agents.ask.max_tokens=-1: error: 'max_tokens' must be between 0 and 1,000,000, "
            "not -1 [SK105]\n");
  EXPECT_EQ(problem({{"agents.ask.max_token", "5"}}),
            "--set agents.ask.max_token=5: error: unknown key 'max_token' in agent 'ask' [SK101]\n"
            "   help: did you mean 'max_tokens'?\n");
  EXPECT_EQ(problem({{"agents.ask.prompt", "{{ nobody }} {{ vars.buyer }} {{ vars.limit }}"}}),
            "--set agents.ask.prompt={{ nobody }} {{ vars.buyer }} {{ vars.limit }}: error: 'ask' "
            "needs 'nobody', which is not an agent [SK302]\n"
            "   help: the other agent is 'again'\n");
  EXPECT_EQ(problem({{"agents.ask.stop", "[a"}}).substr(0, 62),
            "--set agents.ask.stop=[a: error: not valid YAML: end of sequen");
}

TEST(Changes, FitWhatIsThere) {
  EXPECT_EQ(problem({{"agents.asc.seed", "1"}}),
            "--set agents.asc.seed=1: error: the pipeline has no agent 'asc' [SK107]\n"
            "   help: did you mean 'ask'?\n");
  EXPECT_EQ(problem({{"agents..seed", "1"}}),
            "--set agents..seed=1: error: 'agents..seed' is no path such as "
            "agents.risk.temperature [SK107]\n");
  EXPECT_EQ(problem({{"documents.deed.path", "x"}}),
            "--set documents.deed.path=x: error: 'documents.deed' is no mapping, so nothing stands "
            "below it [SK107]\n");
  EXPECT_EQ(problem({}, {{"byer", "x"}}),
            "--var byer=x: error: the pipeline has no var 'byer' [SK107]\n"
            "   help: did you mean 'buyer'?\n");
}

TEST(Changes, StayAsShallowAsAFile) {
  std::string path = "agents.ask.json_schema";
  for (int i = 0; i < 100'000; ++i) path += ".a";

  EXPECT_NE(problem({{path, "1"}}).find("SK107"), std::string::npos);
}

TEST(Changes, RefuseControlCharacters) {
  EXPECT_NE(problem({}, {{"buyer", std::string("a\0b", 3)}}).find("SK005"), std::string::npos);
  EXPECT_NE(problem({{"name", "a\x01"}}).find("SK005"), std::string::npos);
}

TEST(Changes, DoNotHideWhatElseIsWrong) {
  PipelineChanges changes;
  changes.sets = {{"agents.a.seed", "x"}};
  const ParsedPipeline parsed =
      parse_pipeline("version: 1\nagents: { a: { prompt: x, oops: 1 } }\n", "f", changes);

  ASSERT_EQ(parsed.diagnostics.size(), 2u);
  EXPECT_EQ(parsed.diagnostics[0].code, "SK101");
  EXPECT_EQ(parsed.diagnostics[1].code, "SK104");
}

TEST(Changes, OfAFileThatIsNoMappingAreHarmless) {
  PipelineChanges changes;
  changes.sets = {{"name", "x"}};
  changes.vars = {{"a", "x"}};
  changes.select = {"a"};

  EXPECT_FALSE(parse_pipeline("[a, b]\n", "f", changes).ok());
  EXPECT_FALSE(parse_pipeline("", "f", changes).ok());
}

}  // namespace
}  // namespace swarmkv
