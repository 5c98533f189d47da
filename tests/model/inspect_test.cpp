// What `inspect` says without loading, against what the loaded model says.
#include "model/llama_fixture.h"
#include "support/model_files.h"
#include "swarmkv/engine.h"

namespace swarmkv::internal {
namespace {

TEST(Inspect, SaysTheSameOfForksAndCellsAsTheLoadedModel) {
  for (const std::string& path : {smollm2_path(), gemma3_path(), tiny_path("llama"),
                                  tiny_path("gemma3"), tiny_path("mamba"), tiny_path("lfm2")}) {
    const ModelDescription seen = inspect_model(path);
    const ModelDescription loaded = swarmkv::Model::load({.path = path}).describe();
    EXPECT_FALSE(seen.fork_kind.empty()) << path;
    EXPECT_EQ(seen.fork_kind, loaded.fork_kind) << path;
    EXPECT_EQ(seen.kv_bytes_per_token, loaded.kv_bytes_per_token) << path;
    EXPECT_EQ(seen.n_window, loaded.n_window) << path;
  }
}

TEST(Inspect, TellsWhoComputesAttentionAndWhatDeterministicModeCosts) {
  const ModelDescription smol = inspect_model(smollm2_path());
  EXPECT_EQ(smol.attention.rfind("grouped, ", 0), 0u) << smol.attention;
  EXPECT_EQ(smol.deterministic, "many agents at once");
  const ModelDescription gemma = inspect_model(gemma3_path());
  EXPECT_EQ(gemma.attention.rfind("grouped, ", 0), 0u) << gemma.attention;
  EXPECT_EQ(gemma.deterministic.rfind("one agent at a time: ", 0), 0u) << gemma.deterministic;
  EXPECT_EQ(inspect_model(tiny_path("llama")).attention.rfind("stock: heads of", 0), 0u);
}

TEST(Inspect, LeavesOutForksAndCellsOfAModelThatCannotWrite) {
  const ModelDescription bert = inspect_model(tiny_path("bert"));
  EXPECT_EQ(bert.arch, "bert");
  EXPECT_EQ(bert.fork_kind, "");
  EXPECT_EQ(bert.attention, "");
  EXPECT_EQ(bert.kv_bytes_per_token, 0u);
}

TEST(Inspect, ShowsTheFingerprintThatTheModelTells) {
  const std::string seen = inspect_model(smollm2_path()).fingerprint;
  EXPECT_EQ(seen, smollm2()->fingerprint());
  EXPECT_EQ(seen.size(), 32 + 1 + std::string("98362432").size()) << seen;
  EXPECT_NE(seen, inspect_model(tiny_path("llama")).fingerprint);
}

}  // namespace
}  // namespace swarmkv::internal
