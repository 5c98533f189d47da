#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "pipeline/graph.h"
#include "pipeline/plain_agents.h"
#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace {

Pipeline pipeline_of(std::vector<AgentSpec> agents) {
  Pipeline pipeline;
  pipeline.agents = std::move(agents);
  return pipeline;
}

std::vector<std::string> errors_of(Pipeline pipeline) {
  std::vector<std::string> result;
  for (const Diagnostic& diagnostic : validate(pipeline)) {
    if (diagnostic.severity == Diagnostic::Severity::kError) {
      result.push_back(diagnostic.code + " " + diagnostic.message);
    }
  }
  return result;
}

using Errors = std::vector<std::string>;

TEST(Validate, ShowsACircleAsAPath) {
  EXPECT_EQ(errors_of(pipeline_of({agent("a", {"a"})})), Errors{"SK203 circle: a -> a"});
  EXPECT_EQ(errors_of(pipeline_of({agent("a", {"b"}), agent("b", {"a"})})),
            Errors{"SK203 circle: a -> b -> a"});
}

//   tail -> a -> b -> c -> a: the tail is not part of the circle
TEST(Validate, LeavesTheTailOutOfACircle) {
  EXPECT_EQ(errors_of(pipeline_of(
                {agent("tail", {"a"}), agent("a", {"b"}), agent("b", {"c"}), agent("c", {"a"})})),
            Errors{"SK203 circle: a -> b -> c -> a"});
}

TEST(Validate, ReportsSeparateCirclesSeparately) {
  EXPECT_EQ(errors_of(pipeline_of(
                {agent("a", {"b"}), agent("b", {"a"}), agent("c", {"d"}), agent("d", {"c"})})),
            (Errors{"SK203 circle: a -> b -> a", "SK203 circle: c -> d -> c"}));
}

TEST(Validate, ReportsASelfEdgeInsideOfALargerCircle) {
  EXPECT_EQ(errors_of(pipeline_of({agent("a", {"b"}), agent("b", {"a", "b"})})),
            (Errors{"SK203 circle: a -> b -> a", "SK203 circle: b -> b"}));
}

TEST(Validate, NamesEveryEdgeOfACircle) {
  Pipeline pipeline = pipeline_of({agent("a", {"b"}), agent("b", {"c"}), agent("c", {"a"})});

  const std::vector<Diagnostic> found = validate(pipeline);

  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[1].message, "'a' needs 'b' here");
  EXPECT_EQ(found[2].message, "'b' needs 'c' here");
  EXPECT_EQ(found[3].message, "'c' needs 'a' here");
}

TEST(Validate, ListsAllErrorsAtOnce) {
  AgentSpec hot = agent("hot");
  hot.sampling.temperature = std::numeric_limits<double>::quiet_NaN();
  hot.max_tokens = -1;
  AgentSpec silent = agent("silent");
  silent.prompt = " \n";

  const Errors errors =
      errors_of(pipeline_of({hot, silent, agent("Bad"), agent("twice"), agent("twice"),
                             agent("lost", {"hto"}), agent("agents")}));

  EXPECT_EQ(
      errors,
      (Errors{"SK201 agent name 'Bad' is not allowed",
              "SK205 agent 'twice' has the name of another agent",
              "SK201 agent name 'agents' is reserved",
              "SK105 'max_tokens' of agent 'hot' must be between 0 and 1,000,000, not -1",
              "SK105 'temperature' of agent 'hot' must be a finite number, 0 or more, not nan",
              "SK207 agent 'silent' has no prompt",
              "SK202 'lost' needs 'hto', which is not an agent"}));
}

TEST(Validate, AllowsFunctionsWithoutAPromptAndRefusesBoth) {
  AgentSpec count = agent("count", {"a"});
  count.prompt.clear();
  count.function = [](const Answers&) { return std::string("1"); };
  AgentSpec both = agent("both");
  both.function = count.function;

  EXPECT_EQ(errors_of(pipeline_of({agent("a"), count})), Errors{});
  EXPECT_EQ(errors_of(pipeline_of({both})),
            Errors{"SK207 agent 'both' has a function and a prompt"});
}

TEST(Validate, RefusesADocumentWithoutContent) {
  Pipeline pipeline = pipeline_of({agent("a")});
  pipeline.documents.resize(2);
  pipeline.documents[0].name = "one";
  pipeline.documents[1].name = "two";
  pipeline.documents[1].text = "";

  EXPECT_EQ(errors_of(pipeline), Errors{"SK103 document 'one' has neither a path nor a text"});
}

Pipeline with_documents(std::vector<AgentSpec> agents) {
  Pipeline pipeline = pipeline_of(std::move(agents));
  pipeline.documents = {{"deed", "d", {}, {}, {}}, {"annex", "a", {}, {}, {}}};
  return pipeline;
}

TEST(Validate, ChecksTheDocumentsThatAnAgentReads) {
  AgentSpec a = agent("a");
  a.reads = {"annex", "deed", "annex", "dead"};
  AgentSpec none = agent("none");
  none.reads.emplace();

  EXPECT_EQ(
      errors_of(with_documents({a, none})),
      (Errors{"SK204 'a' reads 'annex' twice", "SK210 'a' reads 'dead', which is not a document"}));
}

TEST(Validate, WarnsOfADocumentThatNobodyReads) {
  AgentSpec a = agent("a");
  a.reads = {"deed"};
  Pipeline pipeline = with_documents({a});
  Pipeline all = with_documents({a, agent("b")});

  const std::vector<Diagnostic> found = validate(pipeline);

  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "SK602");
  EXPECT_EQ(found[0].message, "no agent reads document 'annex'");
  EXPECT_TRUE(validate(all).empty()) << "without 'reads' an agent reads all";
}

TEST(Validate, TellsAMissingDocumentListOnceAndNoDocumentThatAMistypedNameMayMean) {
  AgentSpec a = agent("a"), b = agent("b"), mistyped = agent("c");
  a.reads = {"deed"};
  b.reads = {"deed", "annex"};
  mistyped.reads = {"annexe"};

  EXPECT_EQ(errors_of(pipeline_of({a, b})),
            Errors{"SK210 'a' reads 'deed', which is not a document"});
  Pipeline pipeline = with_documents({a, mistyped});
  EXPECT_EQ(validate(pipeline).size(), 1u) << "no word of 'annex', which is the one that is meant";
}

TEST(Validate, MakesANeedOfTheAgentThatIsContinued) {
  AgentSpec b = agent("b");
  b.continues = "a";
  Pipeline pipeline = pipeline_of({agent("a"), b});

  EXPECT_TRUE(validate(pipeline).empty()) << "its answer stands in front, so it is used";
  EXPECT_EQ(pipeline.agents[1].needs, std::vector<std::string>{"a"});
}

TEST(Validate, RefusesToContinueWhatHasNoConversation) {
  AgentSpec self = agent("self");
  self.continues = "self";
  AgentSpec lost = agent("lost");
  lost.continues = "nobody";
  AgentSpec function = agent("function");
  function.prompt.clear();
  function.function = [](const Answers&) { return std::string(); };
  AgentSpec after = agent("after");
  after.continues = "function";
  AgentSpec reads = agent("reads");
  reads.continues = "after";
  reads.reads = {"deed"};
  AgentSpec early = agent("early");
  early.continues = "after";
  early.ready_after = {ReadyAfter::Kind::kTokens, 5, ""};
  AgentSpec maybe = agent("maybe");
  maybe.continues = "after";
  maybe.optional_needs = {"after"};
  maybe.prompt = "{{ after | default('') }}";

  EXPECT_EQ(errors_of(with_documents({self, lost, function, after, reads, early, maybe})),
            (Errors{"SK202 'lost' continues 'nobody', which is not an agent",
                    "SK209 'after' continues 'function', but 'function' is a function and has no "
                    "conversation",
                    "SK105 'reads' has both 'continues' and 'reads': it sees what 'after' has seen",
                    "SK105 'early' has both 'continues' and 'ready_after': it sees what 'after' "
                    "has seen",
                    "SK105 'maybe' continues 'after', so it cannot run without it",
                    "SK203 circle: self -> self"}));
}

TEST(Validate, PutsContinuesIntoCircles) {
  AgentSpec b = agent("b");
  b.continues = "a";

  EXPECT_EQ(errors_of(pipeline_of({agent("a", {"b"}), b})), Errors{"SK203 circle: a -> b -> a"});
}

TEST(Validate, WantsADefaultForAnOptionalNeed) {
  AgentSpec good = agent("good");
  good.optional_needs = {"a"};
  good.prompt = "{{ a | default('none') }}";
  AgentSpec bare = agent("bare", {"a"});
  bare.optional_needs = {"a"};
  AgentSpec silent = agent("silent");
  silent.optional_needs = {"a"};
  Pipeline fine = pipeline_of({agent("a"), good});

  EXPECT_TRUE(validate(fine).empty());
  EXPECT_EQ(fine.agents[1].needs, std::vector<std::string>{"a"});
  EXPECT_EQ(errors_of(pipeline_of({agent("a"), bare, silent})),
            (Errors{"SK304 'bare' may run without 'a', but the prompt has no text for that case",
                    "SK304 'silent' may run without 'a', and its prompt does not use the answer"}));
}

TEST(Validate, WarnsOfADefaultThatIsNeverUsed) {
  AgentSpec b = agent("b");
  b.prompt = "{{ a | default('none') }}";
  Pipeline pipeline = pipeline_of({agent("a"), b});

  const std::vector<Diagnostic> found = validate(pipeline);

  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "SK603");
}

TEST(Validate, LooksIntoAnswersThatAreSureToBeJson) {
  AgentSpec json = agent("json");
  json.sampling.json_schema = "{}";
  AgentSpec b = agent("b");
  b.prompt = "{{ json.json.x }} {{ a.json.x }} {{ json.json.y | default('') }}";

  EXPECT_EQ(errors_of(pipeline_of({agent("a"), json, b})),
            Errors{"SK305 'b' looks into the answer of 'a', which has no 'json_schema'"});
}

TEST(Validate, KnowsVarsInPromptsAndSystemTexts) {
  AgentSpec a = agent("a");
  a.prompt = "{{ vars.one }}";
  a.system = "{{ vars.two }} {{ vars.tree }} {{ a }} {{ b";
  Pipeline pipeline = pipeline_of({a});
  pipeline.vars = {{"one", ""}, {"two", ""}, {"three", ""}, {"Four", ""}};
  pipeline.system = "{{ vars.three }} {{ vars.none }}";

  EXPECT_EQ(errors_of(pipeline),
            (Errors{"SK201 var name 'Four' is not allowed",
                    "SK303 the shared system text uses var 'none', which is not there",
                    "SK301 '{{' is never closed", "SK303 'a' uses var 'tree', which is not there",
                    "SK306 'a' inserts 'a', but only vars may stand in 'system'"}));
}

TEST(Validate, BoundsWhatVarsMakeOfATextAndOfAllTexts) {
  std::string often;
  for (int i = 0; i < 100; ++i) often += "{{ vars.long }}";
  AgentSpec a = agent("a");
  a.prompt = often;
  a.system = often + "!";
  Pipeline pipeline = pipeline_of({a});
  pipeline.vars = {{"long", std::string(200'000, 'x')}};
  pipeline.system = often;

  EXPECT_EQ(
      errors_of(pipeline),
      (Errors{
          "SK307 the shared system text has 20000000 bytes with vars filled in, at "
          "most 16777216 are allowed",
          "SK307 the system text of 'a' has 20000001 bytes with vars filled in, at most 16777216 "
          "are "
          "allowed",
          "SK307 the prompt of 'a' has 20000000 bytes with vars filled in, at most 16777216 are "
          "allowed"}));

  // Each one is short enough.
  pipeline.system.clear();
  pipeline.agents.clear();
  for (int i = 0; i < 30; ++i) {
    pipeline.agents.push_back(agent("a" + std::to_string(i)));
    pipeline.agents.back().prompt = often.substr(0, 50 * std::string("{{ vars.long }}").size());
  }
  EXPECT_EQ(
      errors_of(pipeline),
      Errors{
          "SK307 up to the prompt of 'a26' all texts have 270000000 bytes with vars filled in, at "
          "most 268435456 are allowed"});
}

TEST(Validate, WarnsOfAVarThatNobodyUses) {
  Pipeline pipeline = pipeline_of({agent("a")});
  pipeline.vars = {{"one", ""}};

  const std::vector<Diagnostic> found = validate(pipeline);

  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "SK602");
  EXPECT_EQ(found[0].message, "no prompt and no system text uses var 'one'");
}

TEST(Validate, ChecksWhereAnAgentStartsEarly) {
  const auto error = [](ReadyAfter ready_after) {
    AgentSpec a = agent("a");
    a.ready_after = std::move(ready_after);
    return errors_of(pipeline_of({a}));
  };
  using Kind = ReadyAfter::Kind;
  const double nan = std::numeric_limits<double>::quiet_NaN();

  EXPECT_EQ(error({Kind::kTokens, 0, ""}), Errors{});
  EXPECT_EQ(error({Kind::kPercent, 100, ""}), Errors{});
  EXPECT_EQ(error({Kind::kPercent, 12.5, ""}), Errors{});
  EXPECT_EQ(error({Kind::kBefore, 0, "x"}), Errors{});
  for (const ReadyAfter& bad :
       {ReadyAfter{Kind::kTokens, -1, ""}, ReadyAfter{Kind::kTokens, 0.5, ""},
        ReadyAfter{Kind::kTokens, nan, ""}, ReadyAfter{Kind::kTokens, 1e9, ""},
        ReadyAfter{Kind::kPercent, -0.1, ""}, ReadyAfter{Kind::kPercent, 100.1, ""},
        ReadyAfter{Kind::kPercent, nan, ""}, ReadyAfter{Kind::kBefore, 0, ""}}) {
    ASSERT_EQ(error(bad).size(), 1u);
    EXPECT_EQ(error(bad)[0].substr(0, 5), "SK105");
  }
}

TEST(Validate, TakesASnapshotsWordsAndPathsAndNothingElse) {
  const auto errors = [](const std::string& snapshot) {
    Pipeline pipeline = pipeline_of({agent("a")});
    pipeline.documents.resize(1);
    pipeline.documents[0].name = "deed";
    pipeline.documents[0].path = "deed.txt";
    pipeline.documents[0].snapshot = snapshot;
    return errors_of(pipeline);
  };

  for (const char* good : {"", "off", "auto", "deed.swkv", "kept/deed", "/kept/deed", "./auto"}) {
    EXPECT_EQ(errors(good), Errors{}) << good;
  }
  for (const char* bad : {"on", "Auto", "atuo", "-", "deed"}) {
    EXPECT_EQ(errors(bad),
              Errors{std::string("SK105 the snapshot of document 'deed' must be 'off', 'auto' or a "
                                 "file, not '") +
                     bad + "'"});
  }
}

TEST(Validate, KeepsOutputFilesApartAndBelowTheFolder) {
  const auto errors = [](std::vector<std::string> files) {
    std::vector<AgentSpec> agents;
    for (std::size_t i = 0; i < files.size(); ++i) {
      agents.push_back(agent("a" + std::to_string(i)));
      agents.back().output_file = files[i];
    }
    Pipeline pipeline = pipeline_of(std::move(agents));
    pipeline.documents = {{"deed", "./deed.txt", {}, {}, {}}};
    return errors_of(pipeline);
  };

  EXPECT_EQ(errors({"out/memo.md", "memo.md", "out/./b..md"}), Errors{});
  EXPECT_EQ(errors({"out/memo.md", "out//./memo.md"}),
            Errors{"SK211 'output_file' of 'a1': 'out//./memo.md' is also that of 'a0'"});
  EXPECT_EQ(errors({"deed.txt"}),
            Errors{"SK211 'output_file' of 'a0': 'deed.txt' would replace document 'deed'"});
  for (const char* bad : {"/tmp/x", "../x", "a/../x", "a/..", ".", "out/", "a\nb", "a\x1b"}) {
    const Errors found = errors({bad});
    ASSERT_EQ(found.size(), 1u) << bad;
    EXPECT_EQ(found[0].substr(0, 5), "SK211") << bad;
  }
}

TEST(Validate, ChecksThatASchemaIsAJsonObject) {
  AgentSpec a = agent("a");
  a.sampling.json_schema = "[]";

  EXPECT_EQ(errors_of(pipeline_of({a})),
            Errors{"SK109 'json_schema' of agent 'a' is no schema: it is JSON, but not an object: "
                   "{ ... }"});
}

TEST(Validate, AsksTheEngineOnceForEachSchemaThatIsAnObject) {
  std::vector<AgentSpec> agents;
  for (const char* schema : {"{}", "[]", "{}", "{\"a\": 1}"}) {
    agents.push_back(agent("a" + std::to_string(agents.size())));
    agents.back().sampling.json_schema = schema;
  }
  Pipeline pipeline = pipeline_of(agents);
  std::vector<std::string> asked;
  const std::vector<Diagnostic> found = validate(pipeline, [&asked](const std::string& schema) {
    asked.push_back(schema);
    return schema == "{}" ? "too little" : "";
  });

  EXPECT_EQ(asked, (std::vector<std::string>{"{}", "{\"a\": 1}"}));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].message, "'json_schema' of agent 'a0' cannot bind an answer: too little");
  EXPECT_EQ(found[0].code, "SK109");
  EXPECT_EQ(found[2].message, "'json_schema' of agent 'a2' cannot bind an answer: too little");
}

TEST(Validate, TwiceChangesNothing) {
  Pipeline pipeline = pipeline_of({agent("a"), agent("b", {"a"})});
  pipeline.agents[1].needs.clear();

  EXPECT_TRUE(validate(pipeline).empty());
  EXPECT_TRUE(validate(pipeline).empty());

  EXPECT_EQ(pipeline.agents[1].needs, std::vector<std::string>{"a"});
}

TEST(Graph, FindsAShortestCircleThroughTheFirstNodeOfEachGroup) {
  using Lists = std::vector<std::vector<int>>;

  EXPECT_EQ(internal::find_circles({{}, {0}, {0, 1}}), Lists{});
  EXPECT_EQ(internal::find_circles({{1, 2}, {2}, {0}}), (Lists{{0, 2}}));
  EXPECT_EQ(internal::find_circles({{}, {2}, {3, 1}, {1}}), (Lists{{1, 2}}));
}

}  // namespace
}  // namespace swarmkv
