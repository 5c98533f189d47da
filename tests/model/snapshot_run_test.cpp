// Snapshots on real and tiny models, through the public interface alone: a document that was read
// once is not read again, and the answers are those of a run that reads it.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/model_files.h"
#include "support/snapshots.h"
#include "swarmkv/swarmkv.h"

namespace swarmkv {
namespace {

namespace fs = std::filesystem;

struct Setting {
  std::string model;
  bool use_template = true;
  std::size_t document_bytes = 400;
  int n_agents = 8;
  bool deterministic = true;
  std::string snapshots = "auto";
  int first_question = 0;
  std::string attention{};  ///< of every run; empty: any
};

class SnapshotOnModels : public testing::SnapshotTest {
 protected:
  [[nodiscard]] RunReport run(const Setting& s) const {
    const Model model = Model::load({.path = s.model});
    EngineOptions options;
    options.deterministic = s.deterministic;
    options.ctx_size = 4096;
    options.parallel = s.n_agents;
    options.threads = 2;
    DocumentSpec document;
    document.name = "licence";
    document.text = internal::licence_text(s.document_bytes);
    std::vector<std::string> questions;
    for (int i = 0; i < s.n_agents; ++i) {
      questions.push_back(std::to_string(s.first_question + i) + ": why?");
    }
    Pipeline pipeline = ask_pipeline(document, questions);
    for (AgentSpec& agent : pipeline.agents) {
      agent.max_tokens = 6;
      agent.ignore_eos = true;
    }
    RunOptions run_options = with_store();
    run_options.use_chat_template = s.use_template;
    run_options.snapshot.use = s.snapshots;
    Engine engine(model, options);
    RunReport report = engine.run(pipeline, run_options).wait();
    if (!s.attention.empty()) {
      EXPECT_EQ(report.attention, s.attention) << report.attention_note;
    }
    return report;
  }

  // Cold without snapshots, cold with, and restored.
  void expect_equal_answers(Setting s) const {
    const RunReport saved = run(s);
    ASSERT_EQ(saved.exit_code, 0);
    EXPECT_EQ(saved.documents[0].snapshot->state, "saved")
        << saved.documents[0].snapshot->reason.value_or("");
    const RunReport restored = run(s);
    EXPECT_EQ(restored.documents[0].computed_tokens, 0);
    EXPECT_EQ(restored.documents[0].snapshot->state, "restored");
    EXPECT_TRUE(restored.warnings.empty());
    s.snapshots = "off";
    const RunReport cold = run(s);
    EXPECT_EQ(restored.prompt_tokens_computed,
              cold.prompt_tokens_computed - cold.documents[0].n_tokens);
    for (std::size_t i = 0; s.deterministic && i < cold.agents.size(); ++i) {
      EXPECT_EQ(saved.agents[i].token_ids, cold.agents[i].token_ids) << i;
      EXPECT_EQ(restored.agents[i].token_ids, cold.agents[i].token_ids) << i;
    }
  }
};

TEST_F(SnapshotOnModels, SmolLM2AnswersAsAColdRun) {
  expect_equal_answers({.model = internal::smollm2_path(), .attention = "grouped"});
}

TEST_F(SnapshotOnModels, SmolLM2AnswersFromAFileAsAloneWithoutOne) {
  constexpr int kOurs = 5;
  Setting alone{.model = internal::smollm2_path(), .n_agents = 1, .attention = "grouped"};
  alone.first_question = kOurs;
  alone.snapshots = "off";
  const Tokens cold = run(alone).agents[0].token_ids;
  ASSERT_EQ(cold.size(), 6u);
  alone.snapshots = "auto";
  EXPECT_EQ(run(alone).documents[0].snapshot->state, "saved");
  const RunReport restored = run(alone);
  EXPECT_EQ(restored.documents[0].snapshot->state, "restored");
  EXPECT_EQ(restored.agents[0].token_ids, cold) << "alone";

  const RunReport among_7 = run({.model = alone.model, .attention = "grouped"});

  EXPECT_EQ(among_7.documents[0].snapshot->state, "restored");
  EXPECT_EQ(among_7.agents[kOurs].token_ids, cold) << "among seven";
  EXPECT_LT(among_7.counters.n_decode_steps, 2u * 6) << "they ran one at a time";
}

TEST_F(SnapshotOnModels, SmolLM2InDefaultModeComputesNothingOfIt) {
  expect_equal_answers({.model = internal::smollm2_path(), .deterministic = false});
}

TEST_F(SnapshotOnModels, TheOtherKindsAnswerAsAColdRun) {
  for (const char* kind : {"llama", "mamba", "lfm2"}) {
    for (const std::size_t bytes : {std::size_t{3}, std::size_t{300}, std::size_t{2500}}) {
      SCOPED_TRACE(std::string(kind) + " " + std::to_string(bytes));
      fs::remove_all(folder_);
      expect_equal_answers({.model = internal::tiny_path(kind),
                            .use_template = false,
                            .document_bytes = bytes,
                            .n_agents = 3});
    }
  }
}

// A window's cells come back in other places. Where that would change a bit, deterministic mode
// reads the document itself.
TEST_F(SnapshotOnModels, AWindowModelIsBitEqualOrComputes) {
  Setting s{.model = internal::tiny_path("gemma3"), .use_template = false, .n_agents = 3};
  s.document_bytes = 3;
  expect_equal_answers(s);
  s.document_bytes = 2500;
  const RunReport exact = run(s);
  EXPECT_EQ(exact.documents[0].computed_tokens, exact.documents[0].n_tokens);
  EXPECT_EQ(exact.documents[0].snapshot->state, "skipped");
  EXPECT_NE(exact.documents[0].snapshot->reason->find("window"), std::string::npos);
  s.deterministic = false;
  expect_equal_answers(s);
}

TEST_F(SnapshotOnModels, TheFileHoldsWhatTheEngineSaysAndNoMoreInALargerPool) {
  const Setting s{.model = internal::smollm2_path(), .n_agents = 1};
  const RunReport report = run(s);
  const Model model = Model::load({.path = s.model});
  const double by_the_model = static_cast<double>(model.describe().kv_bytes_per_token) *
                              report.documents[0].snapshot->n_tokens;
  const auto size = static_cast<double>(report.documents[0].snapshot->size_bytes);
  EXPECT_NEAR(size / by_the_model, 1.0, 0.05);
}

// Lengths around the window of 512 tokens.
// In `make test-long`, by their name.
class LongSnapshotOnModels : public SnapshotOnModels {};

TEST_F(LongSnapshotOnModels, GemmaAroundItsWindow) {
  for (const std::size_t bytes : {2200u, 2215u, 2230u, 4600u}) {
    SCOPED_TRACE(bytes);
    fs::remove_all(folder_);
    expect_equal_answers({.model = internal::gemma3_path(),
                          .use_template = false,
                          .document_bytes = bytes,
                          .n_agents = 2,
                          .deterministic = false});
  }
}

// The whole licence, 3,684 tokens and the template around them; finding, verifying and restoring
// included.
TEST_F(LongSnapshotOnModels, SmolLM2IsReadyInThreePercentOfTheTime) {
  Setting s{.model = internal::smollm2_path(), .document_bytes = std::string::npos};
  const RunReport cold = run(s);
  ASSERT_EQ(cold.documents[0].snapshot->state, "saved");
  const RunReport restored = run(s);
  ASSERT_EQ(restored.documents[0].snapshot->state, "restored");
  EXPECT_EQ(restored.documents[0].computed_tokens, 0);
  EXPECT_LE(*restored.documents[0].ready_ms, 0.03 * *cold.documents[0].ready_ms);
  RecordProperty("cold_ms", std::to_string(*cold.documents[0].ready_ms));
  RecordProperty("restored_ms", std::to_string(*restored.documents[0].ready_ms));
  RecordProperty("size_bytes", std::to_string(restored.documents[0].snapshot->size_bytes));
  for (std::size_t i = 0; i < cold.agents.size(); ++i) {
    EXPECT_EQ(restored.agents[i].token_ids, cold.agents[i].token_ids) << i;
  }
}

}  // namespace
}  // namespace swarmkv
