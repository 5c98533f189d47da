// What can be told of the page without a browser; page_test.py opens it in one.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "report/nine_agents.h"
#include "report/page_parts.h"
#include "swarmkv/report.h"

namespace swarmkv {
namespace {

using Json = nlohmann::json;

// What stands in the page's data element.
std::string data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++n;
  return n;
}

TEST(ReportHtml, HoldsTheWholeReportAndWhatItsPicturesNeed) {
  const RunReport report = testing::nine_agents_report();

  const Json data = Json::parse(data_of(to_html(report)));

  EXPECT_EQ(data["report"], Json::parse(to_json(report)));
  EXPECT_EQ(data["timeline"]["agents"].size(), 9U);
  EXPECT_EQ(data["timeline"]["agents"][4]["waits_for"], (Json{1, 2, 3}));
  EXPECT_EQ(data["timeline"]["documents"][0], (Json{"document", 0, 8000}));
}

TEST(ReportHtml, TextCannotLeaveTheDataElement) {
  RunReport report = testing::nine_agents_report();
  report.name = report.device = report.documents[0].name = testing::kHostile;
  report.command = {testing::kHostile};
  for (AgentReport& agent : report.agents) agent.name = agent.text = testing::kHostile;
  report.agents[3].json = "{\"" + std::string("</script><!--") + "\":\"<img>\"}";

  const std::string page = to_html(report), clean = to_html(RunReport{});
  const std::string data = data_of(page);

  EXPECT_EQ(data.find('<'), std::string::npos);
  for (const char* separator : {"\xe2\x80\xa8", "\xe2\x80\xa9", "\x1b"}) {
    EXPECT_EQ(data.find(separator), std::string::npos);
  }
  EXPECT_EQ(data.find('\0'), std::string::npos);
  EXPECT_EQ(Json::parse(data)["report"]["name"], testing::kHostile) << "nothing is lost";
  for (const char* tag : {"<script", "</script>", "<img", "<!--", "<style"}) {
    EXPECT_EQ(count_of(page, tag), count_of(clean, tag)) << tag;
  }
}

TEST(ReportHtml, MayLoadNothing) {
  const std::string page = to_html(testing::nine_agents_report());

  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.find("unsafe-inline"), std::string::npos);
  std::smatch found;
  EXPECT_TRUE(std::regex_search(
      page, found,
      std::regex("script-src 'sha256-[A-Za-z0-9+/]{43}='; style-src 'sha256-[A-Za-z0-9+/]{43}='")));
  const internal::PageParts parts = internal::page_parts();
  std::string fixed = std::string(parts.before) + std::string(parts.after);
  const std::string name_of_svg = "http://www.w3.org/2000/svg";
  fixed.erase(fixed.find(name_of_svg), name_of_svg.size());
  for (const char* outside : {"http:", "https:", "//cdn", "url(\"", "@import", "innerHTML",
                              "insertAdjacentHTML", "document.write", "eval("}) {
    EXPECT_EQ(fixed.find(outside), std::string::npos) << outside;
  }
  for (const char c : fixed) {
    ASSERT_TRUE(static_cast<unsigned char>(c) < 0x80) << "the page's own parts are ASCII";
  }
  EXPECT_EQ(fixed.find("@PAGE"), std::string::npos) << "every part was put in";
}

TEST(ReportHtml, IsAPageForAnyReport) {
  RunReport report;
  report.agents.resize(2);
  report.agents[0].name = std::string(300, 'x') + "\xff\xfe";
  report.agents[0].enqueued_ms = std::numeric_limits<double>::infinity();
  report.duration_ms = std::numeric_limits<double>::quiet_NaN();

  EXPECT_TRUE(Json::accept(data_of(to_html(report))));
  EXPECT_TRUE(Json::accept(data_of(to_html(RunReport{}))));
}

}  // namespace
}  // namespace swarmkv
