#include <gtest/gtest.h>

#include <algorithm>

#include "report/sample_report.h"
#include "support/golden.h"
#include "swarmkv/report.h"

namespace swarmkv {
namespace {

TEST(ReportTable, LooksLikeTheGoldenTable) {
  testing::expect_golden("report/sample_table.txt", to_table(testing::sample_report(), false));
}

TEST(ReportTable, ColoursAddNothingButEscapeSequences) {
  std::string colored = to_table(testing::sample_report(), true);
  EXPECT_NE(colored.find("\x1b[31m"), std::string::npos) << "the failed agent is red";

  for (std::size_t at; (at = colored.find('\x1b')) != std::string::npos;) {
    colored.erase(at, colored.find('m', at) - at + 1);
  }

  EXPECT_EQ(colored, to_table(testing::sample_report(), false));
}

TEST(ReportTable, ShowsADashForWhatIsNotKnown) {
  RunReport report;
  report.agents.resize(1);
  report.agents[0].name = "lonely";

  const std::string table = to_table(report, false);

  EXPECT_NE(table.find("lonely   cancelled            -"), std::string::npos) << table;
  EXPECT_EQ(table.find("0.00"), std::string::npos) << "a zero would be an invented number\n"
                                                   << table;
}

TEST(ReportTable, ShowsControlCharactersOfNamesAndMessagesAsText) {
  RunReport report = testing::sample_report();
  report.agents[3].error = "bad \x1b[2J\a";
  report.warnings[0].message = "look \x1b]0;title";
  report.command = {"ask", "-f", "\x1b[1mbold"};

  const std::string table = to_table(report, false);

  EXPECT_EQ(table.find('\x1b'), std::string::npos);
  EXPECT_EQ(table.find('\a'), std::string::npos);
  EXPECT_NE(table.find("\\x1b"), std::string::npos);
}

TEST(ReportTable, StaysShortForHundredsOfAgentsAndKeepsTheFailedOnes) {
  RunReport report = testing::sample_report();
  const AgentReport good = report.agents[0];
  report.agents.assign(300, good);
  for (std::size_t i = 0; i < 300; ++i) report.agents[i].name = "a" + std::to_string(i);
  report.agents[250].status = AgentStatus::kFailed;
  report.agents[250].error = "no luck";

  const std::string table = to_table(report, false);

  EXPECT_LT(std::count(table.begin(), table.end(), '\n'), 60);
  EXPECT_NE(table.find("\na250"), std::string::npos) << "failed agents are always among the rows";
  EXPECT_NE(table.find("\nand 260 more agents; see --report\n"), std::string::npos);
}

TEST(ReportTable, ShowsTheWorstEndsWhenThereAreTooManyOfThem) {
  RunReport report = testing::sample_report();
  AgentReport cut = report.agents[1], skipped = report.agents[4];
  report.agents.assign(100, cut);
  report.agents.resize(200, skipped);
  report.agents[199].status = AgentStatus::kFailed;
  report.agents[199].error = "no luck";
  for (std::size_t i = 0; i < 200; ++i) report.agents[i].name = "a" + std::to_string(i);

  const std::string table = to_table(report, false);

  EXPECT_EQ(table.find("length !"), std::string::npos) << "skipped ones come before cut ones";
  EXPECT_NE(table.find("\na199 "), std::string::npos);
  EXPECT_NE(table.find("\nfailed          a199: no luck\n"), std::string::npos);
  EXPECT_NE(table.find("and 80 more that did not finish; see --report"), std::string::npos);
}

TEST(ReportTable, ShowsTwentyWarningsAndCountsTheRest) {
  RunReport report = testing::sample_report();
  report.warnings.assign(1234, report.warnings[0]);

  const std::string table = to_table(report, false);

  std::size_t n = 0;
  for (std::size_t at = 0; (at = table.find("\nwarning ", at)) != std::string::npos; ++at) ++n;
  EXPECT_EQ(n, 20U);
  EXPECT_NE(table.find("\n                and 1,214 more warnings; see --report\n"),
            std::string::npos);
  EXPECT_EQ(table.find("help: "), table.rfind("help: ")) << "the same advice is given once";
}

TEST(ReportTable, DoesNotSayTwiceHowAnAgentEnded) {
  RunReport report = testing::sample_report();
  report.agents[4].skip_reason = "skipped because 'clauses' failed";
  report.agents[5].error = "cancelled";

  const std::string table = to_table(report, false);

  EXPECT_NE(table.find("\nskipped         summary: because 'clauses' failed\n"), std::string::npos)
      << table;
  EXPECT_NE(table.find("\ncancelled       late\n"), std::string::npos) << table;
}

TEST(ReportTable, KeepsTextOfSeveralLinesInItsColumn) {
  RunReport report = testing::sample_report();
  report.agents[3].error = "first\nsecond";

  EXPECT_NE(
      to_table(report, false).find("\nfailed          clauses: first\n                second\n"),
      std::string::npos);
}

TEST(ReportTable, SaysThatADocumentWasNotComputed) {
  RunReport report = testing::sample_report();
  report.documents[0].computed_tokens = 0;

  EXPECT_NE(to_table(report, false).find("(document not computed)"), std::string::npos);
}

TEST(TerminalText, IsOneLineAndNarrowEnough) {
  EXPECT_EQ(fit_for_terminal("one\ntwo\tthree", 40), "one two three");
  EXPECT_EQ(fit_for_terminal("abcdefgh", 5), "abcd\xe2\x80\xa6");
  EXPECT_EQ(escape_for_terminal("a\x1b[31mb\n\t\xff"), "a\\x1b[31mb\n\t\\xff");
}

}  // namespace
}  // namespace swarmkv
