// Scenario files of `swarmkv bench`: what they set, and that nothing in them is ignored.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "swarmkv/bench.h"

namespace swarmkv {
namespace {

BenchScenario load(const std::string& yaml, BenchOptions defaults = {}) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("swarmkv_scenario_" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(path) << yaml;
  BenchScenario scenario = load_bench_scenario(path.string(), std::move(defaults));
  std::filesystem::remove(path);
  return scenario;
}

std::string first_error(const std::string& yaml) {
  const BenchScenario scenario = load(yaml);
  EXPECT_FALSE(scenario.ok()) << yaml;
  return scenario.diagnostics.empty() ? "" : scenario.diagnostics.front().message;
}

TEST(BenchScenario, SetsEveryOption) {
  const BenchScenario scenario = load(R"(
version: 1
name: fan-out
document: licence.txt
document_tokens: [128, 512]
agents: [1, 2, 8]
output_tokens: 32
suffix_tokens: [6, 4]
questions: [Who pays?, When?]
arms: [recompute, snapshot, device, shared]
trials: 3
warmup: 0
ignore_eos: false
seed: 7
model: { path: m.gguf, threads: 2, cache_type_k: q8_0 }
x-note: kept free
)");
  ASSERT_TRUE(scenario.ok()) << format(scenario.diagnostics);
  const BenchOptions& o = scenario.options;
  const std::string folder = std::filesystem::temp_directory_path().string();
  EXPECT_EQ(o.document, folder + "/licence.txt") << "beside the file";
  EXPECT_EQ(o.document_tokens, (std::vector<int>{128, 512}));
  EXPECT_EQ(o.agents, (std::vector<int>{1, 2, 8}));
  EXPECT_EQ(o.output_tokens, (std::vector<int>{32}));
  EXPECT_EQ(o.suffix_tokens, (std::vector<int>{6, 4}));
  EXPECT_EQ(o.questions, (std::vector<std::string>{"Who pays?", "When?"}));
  EXPECT_EQ(o.arms, (std::vector<std::string>{"recompute", "snapshot", "device", "shared"}));
  EXPECT_EQ(o.trials, 3);
  EXPECT_EQ(o.warmup, 0);
  EXPECT_FALSE(o.ignore_eos);
  EXPECT_EQ(o.seed, 7U);
  EXPECT_EQ(scenario.model.path, folder + "/m.gguf");
  EXPECT_EQ(scenario.model.threads, 2);
  EXPECT_EQ(scenario.model.cache_type_k, "q8_0");
}

TEST(BenchScenario, KeepsTheDefaultsOfWhatItDoesNotSay) {
  BenchOptions defaults;
  defaults.trials = 9;
  defaults.arms = {"device"};
  const BenchScenario scenario = load("agents: 4\ndocument: /abs/doc.txt\n", defaults);
  ASSERT_TRUE(scenario.ok());
  EXPECT_EQ(scenario.options.trials, 9);
  EXPECT_EQ(scenario.options.arms, defaults.arms);
  EXPECT_EQ(scenario.options.agents, std::vector<int>{4});
  EXPECT_EQ(scenario.options.document, "/abs/doc.txt");
}

TEST(BenchScenario, RefusesWhatItDoesNotKnowOrCannotRead) {
  EXPECT_EQ(first_error("agent: 4\n"), "unknown key 'agent'");
  EXPECT_EQ(load("agent: 4\n").diagnostics.front().hint, "did you mean 'agents'?");
  EXPECT_EQ(first_error("agents: []\n"), "'agents' is an empty list");
  EXPECT_EQ(first_error("agents: [1, 0]\n"), "'agents' must be between 1 and 10,000, not 0");
  EXPECT_EQ(first_error("agents: four\n"),
            "'agents' must be a whole number, found the text 'four'");
  EXPECT_EQ(first_error("output_tokens: -1\n"),
            "'output_tokens' must be between 0 and 1,000,000, not -1");
  EXPECT_EQ(first_error("arms: [shared, copy]\n"),
            "'arms' must be 'shared', 'recompute', 'snapshot' or 'device', not 'copy'");
  EXPECT_EQ(first_error("questions: ['']\n"), "'questions' holds an empty text");
  EXPECT_EQ(first_error("version: 2\n"), "'version' must be between 1 and 1, not 2");
  EXPECT_EQ(first_error("- agents\n"), "a scenario file is a mapping of keys to values");
  EXPECT_EQ(first_error("trials: 1\ntrials: 2\n").substr(0, 3), "key");
  EXPECT_THROW((void)load_bench_scenario("/nowhere.yaml"), Error);
}

}  // namespace
}  // namespace swarmkv
