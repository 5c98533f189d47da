// --select and --exclude.
#include <gtest/gtest.h>

#include <string>

#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace {

using Names = std::vector<std::string>;

//  parties ----> memo ----> critic    (continues)
//  risks   ~~~~> memo                 (optional)
constexpr const char* kFile = R"(
version: 1
documents: { deed: deed.txt, annex: annex.txt }
defaults: { reads: deed }
agents:
  parties: { prompt: Who? }
  risks: { prompt: What?, reads: [deed, annex] }
  memo:
    needs: [{ agent: risks, required: false }]
    prompt: "{{ parties }} and {{ risks | default('no {{ risks') | trim }}, {{ parties }}"
  critic: { continues: memo, prompt: Name three weak sentences. }
)";

ParsedPipeline pick(Names select, Names exclude = {}) {
  PipelineChanges changes;
  changes.select = std::move(select);
  changes.exclude = std::move(exclude);
  return parse_pipeline(kFile, "test.yaml", changes);
}

Names names(ParsedPipeline parsed) {
  EXPECT_TRUE(parsed.diagnostics.empty()) << format(parsed.diagnostics);
  EXPECT_TRUE(validate(parsed.pipeline).empty()) << "what is left is a pipeline of its own";
  Names result;
  for (const AgentSpec& agent : parsed.pipeline.agents) result.push_back(agent.name);
  return result;
}

std::string problem(Names select, Names exclude = {}) {
  return format(pick(std::move(select), std::move(exclude)).diagnostics);
}

TEST(Select, TakesOnlyWhatIsNamedInFileOrder) {
  EXPECT_EQ(names(pick({"risks", "parties"})), (Names{"parties", "risks"}));
}

TEST(Select, TakesAllNeedsOfANameWithAPlus) {
  EXPECT_EQ(names(pick({"+critic"})), (Names{"parties", "risks", "memo", "critic"}));
  EXPECT_EQ(names(pick({"+critic"}, {"risks"})), (Names{"parties", "memo", "critic"}));
}

TEST(Select, PutsTheDefaultInThePlaceOfAnOptionalNeed) {
  const ParsedPipeline parsed = pick({}, {"risks"});

  EXPECT_EQ(names(parsed), (Names{"parties", "memo", "critic"}));
  EXPECT_EQ(parsed.pipeline.agents[1].prompt,
            "{{ parties }} and no {{ '{{' }} risks, {{ parties }}")
      << "braces in the default stay braces";
  EXPECT_EQ(parsed.pipeline.agents[1].needs, Names{"parties"});
  EXPECT_TRUE(parsed.pipeline.agents[1].optional_needs.empty());
}

TEST(Select, LeavesOutDocumentsThatNobodyReadsThen) {
  EXPECT_EQ(pick({}, {"risks"}).pipeline.documents.size(), 1u);
  EXPECT_EQ(pick({"risks"}).pipeline.documents.size(), 2u);
}

TEST(Select, NeedsWhatAnAgentCannotDoWithout) {
  EXPECT_EQ(problem({"memo"}),
            "error: 'memo' needs 'parties', which was left out [SK208]\n"
            "   help: --select +memo takes all that it needs\n");
  EXPECT_EQ(problem({}, {"memo"}),
            "error: 'critic' needs 'memo', which was left out [SK208]\n"
            "   help: --select +critic takes all that it needs\n");
}

TEST(Select, KnowsTheAgents) {
  EXPECT_EQ(problem({"memmo"}),
            "error: --select: the pipeline has no agent 'memmo' [SK107]\n"
            "   help: did you mean 'memo'?\n");
  EXPECT_EQ(problem({}, {"+memo"}),
            "error: --exclude: the pipeline has no agent '+memo' [SK107]\n"
            "   help: did you mean 'memo'?\n");
}

TEST(Select, LeavesSomethingToRun) {
  EXPECT_EQ(problem({"parties"}, {"parties"}), "error: no agent is left to run [SK206]\n");
}

TEST(Select, DoesNotHideErrorsOfOtherAgents) {
  PipelineChanges changes;
  changes.select = {"a"};

  EXPECT_FALSE(
      parse_pipeline("version: 1\nagents: { a: { prompt: x }, b: { prompt: '{{ c }}' } }\n", "f",
                     changes)
          .ok());
}

}  // namespace
}  // namespace swarmkv
