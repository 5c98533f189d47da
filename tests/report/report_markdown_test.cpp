#include <gtest/gtest.h>

#include "report/nine_agents.h"
#include "support/golden.h"
#include "swarmkv/report.h"

namespace swarmkv {
namespace {

TEST(ReportMarkdown, LooksLikeTheGoldenFile) {
  testing::expect_golden("report/nine_agents.md", to_markdown(testing::nine_agents_report()));
}

TEST(ReportMarkdown, AnAnswerCannotCloseItsFence) {
  RunReport report;
  report.agents.resize(1);
  AgentReport& agent = report.agents[0];
  agent.status = AgentStatus::kFinished;
  agent.text = "```\n# a heading of the model\n`````\n<img src=x>";

  const std::string text = to_markdown(report);

  EXPECT_NE(text.find("\n``````text\n" + agent.text + "\n``````\n"), std::string::npos) << text;
}

TEST(ReportMarkdown, NamesAndMessagesHaveNoMeaningOfTheirOwn) {
  RunReport report;
  report.name = "a <b>| *c*\n# d";
  report.agents.resize(1);
  report.agents[0].name = "x|y`z`";
  report.agents[0].error = "[link](http://example.test) <script>";
  report.warnings = {{"SK1", "", "", "\x1b[31m_red_", ""}};

  const std::string text = to_markdown(report);

  EXPECT_TRUE(text.starts_with("# a \\<b\\>\\| \\*c\\* \\# d\n")) << text;
  EXPECT_NE(text.find("| x\\|y\\`z\\` |"), std::string::npos);
  EXPECT_NE(text.find("\\[link\\](http://example.test) \\<script\\>"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(ReportMarkdown, EveryLineOfTheTableHasAsManyCells) {
  const std::string text = to_markdown(testing::nine_agents_report());
  std::istringstream in(text);
  int n_lines = 0;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("|")) continue;
    ++n_lines;
    EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 12) << line;
  }
  EXPECT_EQ(n_lines, 11);
}

}  // namespace
}  // namespace swarmkv
