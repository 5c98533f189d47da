// --deterministic: an agent's token ids do not depend on who else runs, in which order, or in which
// engine.
#include <gtest/gtest.h>

#include <map>

#include "support/model_files.h"
#include "swarmkv/swarmkv.h"

namespace swarmkv {
namespace {

const std::vector<std::string> kQuestions = {"List the obligations of the licensee.",
                                             "What is a Larger Work?",
                                             "When does the licence terminate?"};

struct Setting {
  std::string model;
  bool template_used;
  std::size_t document_bytes;
};

using Ids = std::map<std::string, Tokens>;

Ids answers(const Setting& s, const std::vector<std::string>& questions, bool one_engine_each) {
  const Model model = Model::load({.path = s.model});
  EngineOptions options;
  options.deterministic = true;
  options.ctx_size = 6144;
  options.threads = 2;
  RunOptions run;
  run.use_chat_template = s.template_used;
  Ids ids;
  const auto ask = [&](Engine& engine, const std::vector<std::string>& some) {
    DocumentSpec document;
    document.name = "licence";
    document.text = internal::licence_text(s.document_bytes);
    Pipeline pipeline = ask_pipeline(document, some);
    pipeline.system = "You answer questions about the document.";
    for (AgentSpec& agent : pipeline.agents) {
      agent.max_tokens = 12;
      agent.ignore_eos = true;
    }
    const RunReport report = engine.run(pipeline, run).wait();
    EXPECT_EQ(report.exit_code, 0);
    for (std::size_t i = 0; i < some.size(); ++i) ids[some[i]] = report.agents[i].token_ids;
  };
  if (!one_engine_each) {
    Engine engine(model, options);
    ask(engine, questions);
    return ids;
  }
  for (const std::string& question : questions) {
    Engine engine(model, options);
    ask(engine, {question});
  }
  return ids;
}

void expect_same_ids(const Setting& s) {
  std::vector<std::string> backwards(kQuestions.rbegin(), kQuestions.rend());
  const Ids alone = answers(s, kQuestions, true);
  EXPECT_EQ(answers(s, kQuestions, false), alone) << "siblings changed an answer";
  EXPECT_EQ(answers(s, backwards, false), alone) << "the order changed an answer";
}

TEST(Determinism, SiblingsAndOrderDoNotChangeSmolLM2sAnswers) {
  expect_same_ids({internal::smollm2_path(), true, 1800});
}
TEST(Determinism, SiblingsAndOrderDoNotChangeGemma3sAnswers) {
  expect_same_ids({internal::gemma3_path(), false, 1800});
}

// Many at once, on a model whose rows do not see each other.
class ManyAtOnce : public ::testing::Test {
 protected:
  struct Crowd {
    int n_agents = 0;    ///< with ours
    int place = 0;       ///< of ours in the order of arrival
    int cells_each = 0;  ///< for answers, as an average; 0 = what they need
  };

  static AgentSpec agent(int number, int max_tokens) {
    AgentSpec spec;
    spec.name = "agent" + std::to_string(number);
    spec.prompt = "Question " + std::to_string(number) + ": " +
                  kQuestions[static_cast<std::size_t>(number) % kQuestions.size()];
    spec.max_tokens = max_tokens;
    spec.ignore_eos = true;
    return spec;
  }

  RunReport run(const Crowd& crowd, int max_tokens = 12) {
    Pipeline pipeline;
    DocumentSpec document;
    document.name = "licence";
    document.text = internal::licence_text(1800);
    pipeline.documents.push_back(document);
    for (int i = 1; i < crowd.n_agents; ++i) pipeline.agents.push_back(agent(i, max_tokens));
    pipeline.agents.insert(pipeline.agents.begin() + crowd.place, agent(0, max_tokens));
    EngineOptions options;
    options.deterministic = true;
    options.threads = 2;
    const Plan wanted = make_plan(model_, pipeline, options);
    options.ctx_size = wanted.ctx_size;
    if (crowd.cells_each > 0) {
      options.ctx_size = wanted.n_document_tokens;
      for (const Plan::Agent& a : wanted.agents) options.ctx_size += a.n_own_max + crowd.cells_each;
    }
    const Plan plan = make_plan(model_, pipeline, options);
    Engine engine(model_, options);
    RunReport report = engine.run(plan).wait();
    EXPECT_EQ(report.exit_code, 0);
    return report;
  }

  static const AgentReport& ours(const RunReport& report) {
    for (const AgentReport& a : report.agents) {
      if (a.name == "agent0") return a;
    }
    throw std::runtime_error("no agent0 in the report");
  }

  Model model_ = Model::load({.path = internal::smollm2_path()});
};

TEST_F(ManyAtOnce, AnAgentsIdsAreEqualAloneAndAmong7And49InAnyOrderOfArrival) {
  const Tokens alone = ours(run({.n_agents = 1})).token_ids;
  ASSERT_EQ(alone.size(), 12u);
  EXPECT_EQ(ours(run({.n_agents = 8, .place = 0})).token_ids, alone);
  EXPECT_EQ(ours(run({.n_agents = 8, .place = 7})).token_ids, alone);
  const RunReport crowd = run({.n_agents = 50, .place = 20});
  EXPECT_EQ(ours(crowd).token_ids, alone);
  EXPECT_EQ(crowd.attention, "grouped") << crowd.attention_note;
  const EngineCounters& c = crowd.counters;
  EXPECT_LT(c.n_decode_steps, 2u * 12) << "they ran one at a time";
  EXPECT_GE(2 * c.n_graphs_reused, c.n_decode_steps) << "of " << c.n_forwards << " forwards";
  EXPECT_GT(c.mask_s, 0);
  EXPECT_LT(c.mask_s, c.forward_s);
}

TEST_F(ManyAtOnce, AnAgentsIdsAreEqualAfterAPreemption) {
  constexpr int kTokens = 150;  // 64 cells are reserved at first, so six agents start together
  const Tokens alone = ours(run({.n_agents = 1}, kTokens)).token_ids;
  const RunReport crowd = run({.n_agents = 6, .place = 5, .cells_each = 74}, kTokens);
  EXPECT_EQ(ours(crowd).token_ids, alone);
  EXPECT_GT(ours(crowd).n_preemptions, 0) << "the pool was not small enough to try it";
}

TEST(LongDeterminism, HoldsOnTheWholeLicenceWithSmolLM2) {
  expect_same_ids({internal::smollm2_path(), true, std::string::npos});
}
TEST(LongDeterminism, HoldsOnTheWholeLicenceWithGemma3) {
  expect_same_ids({internal::gemma3_path(), false, std::string::npos});
}

}  // namespace
}  // namespace swarmkv
