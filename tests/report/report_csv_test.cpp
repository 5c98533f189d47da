#include <gtest/gtest.h>

#include "report/nine_agents.h"
#include "support/golden.h"
#include "swarmkv/report.h"

namespace swarmkv {
namespace {

// The cells of RFC 4180 text; fails on anything that the RFC does not allow.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::size_t i = 0;
  while (i < text.size()) {
    std::vector<std::string> row(1);
    for (;;) {
      std::string& cell = row.back();
      if (i < text.size() && text[i] == '"') {
        for (++i;; ++i) {
          if (i >= text.size()) throw std::runtime_error("a quote is not closed");
          if (text[i] == '"' && text[i + 1] != '"') break;
          if (text[i] == '"') ++i;
          cell += text[i];
        }
        ++i;
      } else {
        while (i < text.size() && text[i] != ',' && text[i] != '\r') {
          if (text[i] == '"' || text[i] == '\n') throw std::runtime_error("needs quotes");
          cell += text[i++];
        }
      }
      if (text.compare(i, 2, "\r\n") == 0) break;
      if (text[i] != ',') throw std::runtime_error("no comma behind a cell");
      ++i;
      row.emplace_back();
    }
    i += 2;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::size_t column(const std::vector<std::string>& header, const std::string& name) {
  const auto found = std::find(header.begin(), header.end(), name);
  EXPECT_NE(found, header.end()) << name;
  return static_cast<std::size_t>(found - header.begin());
}

TEST(ReportCsv, HasOneLineAnAgentUnderItsHeader) {
  const auto rows = read_csv(to_csv(testing::nine_agents_report()));

  ASSERT_EQ(rows.size(), 10U);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  const std::vector<std::string>& memo = rows[5];
  EXPECT_EQ(memo[column(rows[0], "agent")], "memo");
  EXPECT_EQ(memo[column(rows[0], "needs")], "parties risks obligations");
  EXPECT_EQ(memo[column(rows[0], "new_prompt_tokens")], "1311");
  EXPECT_EQ(memo[column(rows[0], "enqueued_ms")], "15900");
  EXPECT_EQ(memo[column(rows[0], "output_file")], "out/memo.md");
  EXPECT_EQ(memo[column(rows[0], "text")],
            "The seller delivers forty barrels within thirty days.\n\nEither side may cancel.\n");
}

TEST(ReportCsv, LeavesEmptyWhatIsNotKnown) {
  const auto rows = read_csv(to_csv(testing::nine_agents_report()));

  const std::vector<std::string>& skipped = rows[8];
  EXPECT_EQ(skipped[column(rows[0], "status")], "skipped");
  for (const char* name : {"ttft_ms", "prompt_tokens", "itl_p95_ms", "finish_reason"}) {
    EXPECT_EQ(skipped[column(rows[0], name)], "") << name;
  }
}

TEST(ReportCsv, TextThatASpreadsheetWouldComputeIsMarkedUnlessAskedNotTo) {
  RunReport report;
  report.agents.resize(1);
  for (const char* text : {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"}) {
    report.agents[0].text = text;
    const auto safe = read_csv(to_csv(report));
    const auto verbatim = read_csv(to_csv(report, CsvText::kVerbatim));
    const std::size_t at = column(safe[0], "text");
    EXPECT_EQ(safe[1][at], "'" + std::string(text));
    EXPECT_EQ(verbatim[1][at], text);
  }
  report.agents[0].tpot_ms = -1.5;
  const auto rows = read_csv(to_csv(report));
  EXPECT_EQ(rows[1][column(rows[0], "tpot_ms")], "-1.5") << "numbers stay numbers";
}

TEST(ReportCsv, QuotesCommasQuotesAndLineEnds) {
  RunReport report;
  report.agents.resize(1);
  report.agents[0].name = "a,\"b\"\r\nc";

  EXPECT_EQ(read_csv(to_csv(report))[1][0], report.agents[0].name);
  EXPECT_NE(to_csv(report).find("\"a,\"\"b\"\"\r\nc\",llm"), std::string::npos);
}

TEST(ReportCsv, LooksLikeTheGoldenFile) {
  testing::expect_golden("report/nine_agents.csv", to_csv(testing::nine_agents_report()));
}

}  // namespace
}  // namespace swarmkv
