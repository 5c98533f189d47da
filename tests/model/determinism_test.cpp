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
TEST(LongDeterminism, HoldsOnTheWholeLicenceWithSmolLM2) {
  expect_same_ids({internal::smollm2_path(), true, std::string::npos});
}
TEST(LongDeterminism, HoldsOnTheWholeLicenceWithGemma3) {
  expect_same_ids({internal::gemma3_path(), false, std::string::npos});
}

}  // namespace
}  // namespace swarmkv
