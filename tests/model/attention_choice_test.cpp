// Why llama.cpp's attention kernel is in use: asked of the rules, and read in a run's report.
#include "engine/llama/attention_choice.h"

#include <gtest/gtest.h>

#include "support/model_files.h"
#include "swarmkv/swarmkv.h"

namespace swarmkv::internal {
namespace {

// No GPU is needed to ask: the model only says that layers may be on one.
TEST(AttentionChoice, LeavesModelsToTheRuntimeWhoseLayersMayBeOnAGpu) {
  LoadedModel model;
  ContextOptions options;
  ASSERT_EQ(why_not_tried(model, ForkKind::kFull, options), "");
  model.offloads = true;
  for (const auto kernel : {AttentionKernel::kAuto, AttentionKernel::kGrouped}) {
    options.attention = kernel;
    EXPECT_EQ(why_not_tried(model, ForkKind::kFull, options), "layers may be on a GPU");
  }
  options.attention = AttentionKernel::kAuto;
  options.deterministic = true;
  EXPECT_EQ(why_not_tried(model, ForkKind::kFull, options),
            in_deterministic_mode("layers may be on a GPU"));
}

RunReport report_with(const EngineOptions& options) {
  DocumentSpec document;
  document.name = "licence";
  document.text = licence_text(300);
  Pipeline pipeline = ask_pipeline(document, {"Why?", "How?"});
  for (AgentSpec& agent : pipeline.agents) agent.max_tokens = 2;
  Engine engine(swarmkv::Model::load({.path = smollm2_path()}), options);
  RunReport report = engine.run(pipeline).wait();
  EXPECT_EQ(report.exit_code, 0);
  return report;
}

TEST(AttentionChoice, IsTheRuntimesForOtherCachesThanF16AndTheReportSaysSo) {
  EngineOptions options;
  options.ctx_size = 1024;
  options.threads = 2;
  EXPECT_EQ(report_with(options).attention, "grouped");
  options.cache_type_k = "q8_0";

  const RunReport report = report_with(options);

  EXPECT_EQ(report.attention, "stock");
  EXPECT_NE(report.attention_note.find("not F16"), std::string::npos) << report.attention_note;
}

}  // namespace
}  // namespace swarmkv::internal
