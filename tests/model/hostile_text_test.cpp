// Marker text and broken bytes on real weights: they stay text, and what a schema asks for is
// written out.
#include <nlohmann/json.hpp>

#include "model/llama_fixture.h"
#include "support/hostile_answer.h"
#include "support/model_files.h"

namespace swarmkv::testing {
namespace {

using internal::smollm2;
using internal::smollm2_path;

TEST(HostileText, AnAnswerStaysTextInThePromptOfAJoin) {
  expect_hostile_answer_stays_text(smollm2(), "llama");
}

// The runtime takes a control token for the letters of its marker, which a string may hold; as a
// token it would be missing from the answer.
TEST(HostileText, AMarkerThatASchemaAsksForIsWrittenOut) {
  for (const std::string& path : {internal::tiny_path("llama"), smollm2_path()}) {
    Engine engine(Model::load({.path = path}), {.ctx_size = 4096, .threads = 2});
    std::vector<AgentSpec> agents;
    for (const char* marker : {"<|im_start|>", "<|im_end|>", "<|endoftext|>"}) {
      for (std::uint32_t seed = 0; seed < 6; ++seed) {
        AgentSpec& spec =
            agents.emplace_back(agent("a" + std::to_string(agents.size()), "Go.", 60));
        spec.sampling.temperature = 2.0 * seed;
        spec.sampling.min_p = 0;
        spec.sampling.seed = seed;
        spec.sampling.json_schema = nlohmann::json{{"const", marker}}.dump();
      }
    }

    const RunReport report = engine.run(pipeline_of(agents)).wait();

    for (std::size_t i = 0; i < agents.size(); ++i) {
      const auto schema = nlohmann::json::parse(agents[i].sampling.json_schema);
      EXPECT_EQ(report.agents[i].finish_reason, FinishReason::kStop) << agents[i].name;
      EXPECT_EQ(nlohmann::json::parse(report.agents[i].text, nullptr, false), schema["const"])
          << path << " " << agents[i].name << ": " << report.agents[i].text;
    }
  }
}

// Random weights write whatever a grammar allows: strings that never end, half characters, escapes.
TEST(HostileText, JsonOfRandomWeightsIsValidOrToldAsCut) {
  int n_whole = 0, n_cut = 0;
  for (const char* kind : {"llama", "gemma3", "lfm2"}) {
    Engine engine(Model::load({.path = internal::tiny_path(kind)}), {.threads = 2});
    std::vector<AgentSpec> agents;
    for (std::uint32_t seed = 0; seed < 6; ++seed) {
      AgentSpec& spec = agents.emplace_back(agent("a" + std::to_string(seed), "Go.", 300));
      spec.sampling.temperature = seed == 0 ? 0.0 : 1.0 + seed;
      spec.sampling.seed = seed;
      spec.sampling.json_schema =
          R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"]})";
    }
    agents.push_back(agent("free", "Go.", 2000));
    agents.back().ignore_eos = true;

    const RunReport report = engine.run(pipeline_of(agents)).wait();

    EXPECT_EQ(report.exit_code, 0) << kind;
    const auto json = nlohmann::json::parse(to_json(report));
    EXPECT_EQ(report.agents.back().completion_tokens, 2000) << kind;
    for (std::size_t i = 0; i + 1 < agents.size(); ++i) {
      const AgentReport& a = report.agents[i];
      SCOPED_TRACE(std::string(kind) + " " + a.name + ": " + a.text);
      EXPECT_EQ(a.status, AgentStatus::kFinished);
      const auto value = nlohmann::json::parse(a.text, nullptr, false);
      if (a.truncated) {
        ++n_cut;
        EXPECT_TRUE(value.is_discarded());
        EXPECT_TRUE(json["agents"][i]["json"].is_null());
        EXPECT_TRUE(json["agents"][i]["truncated"]);
        continue;
      }
      ++n_whole;
      ASSERT_TRUE(value.is_object());
      EXPECT_TRUE(value.at("a").is_string());
      EXPECT_EQ(json["agents"][i]["json"], value);
    }
    const auto n_warned = std::count_if(report.warnings.begin(), report.warnings.end(),
                                        [](const Warning& w) { return w.code == "SK601"; });
    EXPECT_EQ(n_warned, report.n_truncated) << kind;
  }
  EXPECT_GT(n_whole, 0) << "nothing was put to the test";
  EXPECT_GT(n_cut, 0) << "nothing was cut";
}

}  // namespace
}  // namespace swarmkv::testing
