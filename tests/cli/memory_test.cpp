// What one more agent costs in memory, from processes of their own: nothing that grows with the
// others.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "support/model_files.h"
#include "support/sanitizers.h"
#include "support/temporary_folder.h"

namespace swarmkv::internal {
namespace {

constexpr int kAnswer = 32;
/// An agent's prompt, answer, times and its part of the report were 8,500 bytes. Peaks differ by
/// some 2 MiB from run to run, so steps of less than 1,000 agents would not do.
constexpr std::int64_t kMostBytes = 14'400;

/// The report of a run of `n_agents` on the fake engine.
nlohmann::json report_of(int n_agents) {
  const TemporaryFolder folder;
  std::ofstream(folder / "contract.txt") << std::string(4000, 'c');
  std::ofstream questions(folder / "questions.txt");
  for (int i = 0; i < n_agents; ++i) questions << "Question number " << i << "?\n";
  questions.close();
  const std::string command = "cd '" + folder.path() + "' && '" + env_path("SWARMKV_TEST_CLI") +
                              "' ask --engine fake -f contract.txt --questions questions.txt -n " +
                              std::to_string(kAnswer) +
                              " --ignore-eos --print none -q --report r.json 2>err.txt";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::ifstream in(folder / "r.json");
  return nlohmann::json::parse(in);
}

std::int64_t peak_bytes(const nlohmann::json& report) {
  return report["summary"]["peak"]["rss_bytes"].get<std::int64_t>();
}

TEST(Memory, TwoThousandAgentsRunToTheEndAndEachCostsAsMuchAsOneOfFiveHundred) {
  if (kKeepsFreedMemory) GTEST_SKIP() << "a sanitizer keeps what is freed";
  const nlohmann::json few = report_of(500), many = report_of(2000), most = report_of(4000);

  EXPECT_EQ(many["summary"]["counts"]["finished"], 2000);
  EXPECT_EQ(many["summary"]["completion_tokens"], 2000 * kAnswer);
  EXPECT_EQ(many["documents"][0]["computed_tokens"], many["documents"][0]["n_tokens"]);
  const std::int64_t first = (peak_bytes(many) - peak_bytes(few)) / 1500;
  const std::int64_t next = (peak_bytes(most) - peak_bytes(many)) / 2000;
  RecordProperty("bytes_an_agent_from_500_to_2000", std::to_string(first));
  RecordProperty("bytes_an_agent_from_2000_to_4000", std::to_string(next));
  EXPECT_LT(first, kMostBytes);
  EXPECT_LT(next, kMostBytes) << "agents that come later cost more";
}

}  // namespace
}  // namespace swarmkv::internal
