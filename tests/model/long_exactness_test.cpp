// Exactness on a model that somebody trained, in a document that somebody wrote.
#include <unistd.h>

#include <cstdint>
#include <filesystem>

#include "llama.h"
#include "model/exactness_rig.h"
#include "support/model_files.h"

namespace swarmkv::internal {
namespace {

namespace fs = std::filesystem;

/// SmolLM2 with its weights as F32, written by llama.cpp into the folder for temporary files.
class LongExactness : public ::testing::Test {
 protected:
  LongExactness()
      : path_(fs::path(::testing::TempDir()) /
              ("swarmkv_" + std::to_string(::getpid()) + "_SmolLM2.F32.gguf")) {}
  ~LongExactness() override {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

  void SetUp() override {
    constexpr std::uintmax_t kNeeded = 600'000'000;
    std::error_code error;
    const fs::space_info space = fs::space(path_.parent_path(), error);
    if (error || space.available < kNeeded) {
      GTEST_SKIP() << "needs " << kNeeded / 1'000'000 << " MB for a model in F32, "
                   << path_.parent_path() << " has " << (error ? 0 : space.available / 1'000'000)
                   << " MB";
    }
    // Loading anything silences the runtime.
    (void)load_llama_model(
        {.path = smollm2_path(), .n_gpu_layers = 0, .vocab_only = true, .log = {}});
    llama_model_quantize_params params = llama_model_quantize_default_params();
    params.nthread = 2;
    params.ftype = LLAMA_FTYPE_ALL_F32;
    params.allow_requantize = true;
    ASSERT_EQ(llama_model_quantize(smollm2_path().c_str(), path_.c_str(), &params), 0u);
    model_ = load_llama_model({.path = path_.string(), .n_gpu_layers = 0, .log = {}});
    ASSERT_EQ(model_->info().quant, "F32");
    ASSERT_GT(model_->info().size_bytes, model_->info().n_params * 4 - 1) << "nothing is rounded";
  }

  fs::path path_;
  std::shared_ptr<const Model> model_;
};

TEST_F(LongExactness, SharedBranchesOfSmolLM2SeeTheCellsOfALoneRun) {
  ExactnessCase c;
  c.document = model_->tokenize(licence_text(2600), SpecialTokens::kPlainText);
  ASSERT_GT(c.document.size(), 500u);
  ASSERT_LE(c.document.size(), 700u);
  c.fork_at = 260;
  c.holes = {7, 259, 480};
  ExactnessRig(*model_).expect_exact(c);
}

}  // namespace
}  // namespace swarmkv::internal
