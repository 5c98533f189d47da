// What a model thinks aloud is told apart from its answer wherever the answer goes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/template_model.h"
#include "support/listening_model.h"
#include "support/pipelines.h"

namespace swarmkv::testing {
namespace {

/// A model whose template ends with <think>; answers: (text in the prompt, what it writes then).
Model thinking(const std::vector<std::pair<std::string, std::string>>& answers) {
  const std::string opening = "<think>\n";
  internal::FakeOptions options;
  for (const auto& [when, answer] : answers) options.forced.push_back({when, opening + answer});
  return internal::as_loaded(
      std::make_shared<internal::TemplateModel>(
          [opening](auto messages, auto) { return internal::fake_render_chat(messages) + opening; },
          options),
      "fake");
}

struct Told {
  RunReport report;
  std::vector<Event> events;

  [[nodiscard]] const AgentReport& agent(std::size_t i) const { return report.agents.at(i); }
  /// All deltas of agent `i`, joined.
  [[nodiscard]] std::string text(std::size_t i) const { return joined(i, &Event::text); }
  [[nodiscard]] std::string reasoning(std::size_t i) const { return joined(i, &Event::reasoning); }

 private:
  [[nodiscard]] std::string joined(std::size_t i, std::string Event::*field) const {
    std::string all;
    for (const Event& event : events) {
      if (event.type == EventType::kAgentDelta && event.name == agent(i).name) all += event.*field;
    }
    return all;
  }
};

Told run(const Model& model, const Pipeline& pipeline) {
  Engine engine(model, {});
  const auto log = std::make_shared<EventLog>();
  Told told;
  told.report = engine.run(pipeline, observed_by(log)).wait();
  told.events = log->events();
  return told;
}

AgentSpec bound(AgentSpec spec, std::string schema) {
  spec.sampling.json_schema = std::move(schema);
  return spec;
}

//  bound to a schema --> join        the grammar leaves no room for thoughts, whatever opened them
TEST(Reasoning, AnAnswerThatIsBoundToASchemaHasNone) {
  const std::string schema = R"({"type":"object","required":["a"],"properties":)"
                             R"({"a":{"const":"x</think>y"}}})";
  const Model model = thinking({{"Got x</think>y", "done</think>Seen."}});

  const Told told = run(model, pipeline_of({bound(agent("a", "Which?", 60), schema),
                                            agent("join", "Got {{ a.json.a }}", 60)}));

  const std::string json = R"({"a":"x</think>y"})";
  EXPECT_EQ(told.agent(0).text, json);
  EXPECT_EQ(told.agent(0).reasoning, std::nullopt);
  EXPECT_EQ(told.agent(0).json, json);
  EXPECT_EQ(nlohmann::json::parse(to_json(told.report))["agents"][0]["json"]["a"], "x</think>y");
  EXPECT_EQ(told.text(0), json);
  EXPECT_EQ(told.reasoning(0), "");
  EXPECT_EQ(told.agent(1).text, "Seen.") << "the join was given the part";
}

TEST(Reasoning, IsStreamedApartFromTheAnswer) {
  for (const bool opened : {true, false}) {
    const std::string a = "\nA or B?\n</think>\n\nB.\n", join = "sure</think>Seen.";
    const Model model = opened ? thinking({{"Which?", a}, {"Join B.\n!", join}})
                               : answering({{"Which?", "<think>" + a}, {"Join B.\n!", join}});

    const Told told =
        run(model, pipeline_of({agent("a", "Which?", 60), agent("join", "Join {{ a }}!", 60)}));

    EXPECT_EQ(told.agent(0).text, "B.\n");
    EXPECT_EQ(told.agent(0).reasoning, "A or B?");
    EXPECT_EQ(told.text(0), "B.\n") << opened;
    EXPECT_EQ(told.reasoning(0), "A or B?") << opened;
    EXPECT_EQ(told.text(1), opened ? "Seen." : join) << "the join reads the answer only";
    for (const Event& event : told.events) {
      if (event.type != EventType::kAgentFinished || event.name != "a") continue;
      EXPECT_EQ(event.text, "B.\n");
      EXPECT_EQ(event.n_tokens, *told.agent(0).completion_tokens);
    }
  }
}

// Cut after every token: in the mark, in the thoughts, between, in the answer.
TEST(Reasoning, WhereverTheTextIsCutTheStreamAndTheReportAgree) {
  const std::string text = "<think>a b </think>\n c";
  const Model model = answering({{"Which?", text}});
  for (int n = 1; n <= static_cast<int>(text.size()) + 1; ++n) {
    const Told told = run(model, pipeline_of({agent("a", "Which?", n)}));
    EXPECT_EQ(told.text(0), told.agent(0).text) << n;
    EXPECT_EQ(told.reasoning(0), told.agent(0).reasoning.value_or("")) << n;
    EXPECT_EQ(told.agent(0).text.empty(), told.agent(0).reasoning.has_value() && n < 22) << n;
  }
}

TEST(Reasoning, ThatWasCutOnPurposeIsNotWarnedOf) {
  const Model model = thinking({{"Read", "on and on"}});
  AgentSpec reader = agent("reader", "Read", 0);
  AgentSpec endless = agent("endless", "Read", 5);
  endless.ignore_eos = true;

  EXPECT_TRUE(run(model, pipeline_of({reader, endless})).report.warnings.empty());
}

TEST(Reasoning, WithoutAnAnswerBehindItIsWarnedOf) {
  const Model model = answering(
      {{"Cut?", "<think>on and on"}, {"Stop?", "<think>A. B"}, {"End?", "<think>so</think>"}});
  AgentSpec stopped = agent("stopped", "Stop?", 60);
  stopped.stop = {"."};

  const RunReport report =
      run(model, pipeline_of({agent("cut", "Cut?", 10), stopped, agent("ended", "End?", 60)}))
          .report;

  ASSERT_EQ(report.warnings.size(), 3u);
  EXPECT_EQ(report.warnings[0].code, "SK601");
  EXPECT_EQ(report.warnings[0].message, "cut at max_tokens=10 before an answer");
  EXPECT_EQ(report.warnings[1].code, "SK611");
  EXPECT_EQ(report.warnings[1].hint, "one of its stop texts may have ended the reasoning");
  EXPECT_EQ(report.warnings[2].code, "SK611");
  EXPECT_EQ(report.warnings[2].message, "no answer behind the reasoning");
}

}  // namespace
}  // namespace swarmkv::testing
