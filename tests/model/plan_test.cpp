// Planning on a real model with its vocabulary alone.
#include <gtest/gtest.h>

#include "support/model_files.h"
#include "support/pipelines.h"

namespace swarmkv::testing {
namespace {

Model load(bool vocab_only) {
  ModelOptions options;
  options.path = internal::smollm2_path();
  options.vocab_only = vocab_only;
  return Model::load(options);
}

TEST(PlanOnAModel, TheVocabularyAloneSaysTheSame) {
  AgentSpec memo = agent("memo", "Join {{ a }}.", 40);
  AgentSpec next = agent("next", "And why?", 20);
  next.continues = "memo";
  const Pipeline pipeline =
      pipeline_of({agent("a", "Who pays?", 30), memo, next}, "The buyer pays within 30 days.");
  EngineOptions options;
  options.ctx_size = 1000;
  const Plan plan = draft_plan(load(true), pipeline, options);

  EXPECT_EQ(to_json(plan), to_json(draft_plan(load(false), pipeline, options)));
  EXPECT_GT(plan.kv_bytes, 0u);
  EXPECT_EQ(plan.misfit, "");
}

}  // namespace
}  // namespace swarmkv::testing
