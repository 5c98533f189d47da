#include "cli/print_choice.h"

#include <gtest/gtest.h>

#include "cli/settings.h"

namespace swarmkv::cli {
namespace {

using Names = std::vector<std::string>;

//  a --> b --> c,  d alone
Pipeline chain_and_one() {
  Pipeline p;
  p.agents.resize(4);
  p.agents[0].name = "a";
  p.agents[1].name = "b";
  p.agents[1].needs = {"a"};
  p.agents[2].name = "c";
  p.agents[2].needs = {"b"};
  p.agents[3].name = "d";
  return p;
}

TEST(PrintChoice, FinalMeansThoseThatNobodyNeeds) {
  const Pipeline p = chain_and_one();

  EXPECT_EQ(agents_to_print("final", p), (Names{"c", "d"}));
  EXPECT_EQ(agents_to_print("all", p), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(agents_to_print("none", p), Names{});
  EXPECT_EQ(agents_to_print("d,a", p), (Names{"a", "d"})) << "file order";
}

TEST(PrintChoice, RefusesAnAgentThatIsNotThere) {
  Pipeline p = chain_and_one();
  p.agents[3].name = "obligations";

  try {
    agents_to_print("obligation", p);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--print: no agent 'obligation'; did you mean 'obligations'?");
  }
  EXPECT_THROW(agents_to_print("a,", p), UsageError);
  EXPECT_THROW(agents_to_print("a,b,a", p), UsageError) << "an answer is printed once";
}

RunReport two_answers() {
  RunReport r;
  r.agents.resize(3);
  r.agents[0].name = "a";
  r.agents[0].text = "one \x1b[1m";
  r.agents[1].name = "b";
  r.agents[1].text = "two\n";
  r.agents[2].name = "c";
  for (AgentReport& agent : r.agents) agent.status = AgentStatus::kFinished;
  r.agents[2].status = AgentStatus::kFailed;
  return r;
}

TEST(PrintChoice, PutsHeadingsOnlyOnSeveralAnswers) {
  const RunReport r = two_answers();

  EXPECT_EQ(answers_text(r, {"b"}, false), "two\n");
  EXPECT_EQ(answers_text(r, {"a", "b", "c"}, false), "# a\none \x1b[1m\n\n# b\ntwo\n");
  EXPECT_EQ(answers_text(r, {}, false), "");
}

TEST(PrintChoice, ShowsControlCharactersToATerminalOnly) {
  EXPECT_EQ(answers_text(two_answers(), {"a"}, true), "one \\x1b[1m\n");
  EXPECT_EQ(answers_text(two_answers(), {"a"}, false), "one \x1b[1m\n");
}

}  // namespace
}  // namespace swarmkv::cli
