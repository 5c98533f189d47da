// Which types of weights make a branch independent of its company: whatever is promised holds, and
// what holds without being promised is recorded.
#include <unistd.h>

#include <filesystem>

#include "llama.h"
#include "model/company_rig.h"
#include "support/model_files.h"

namespace swarmkv::internal {
namespace {

namespace fs = std::filesystem;

struct Type {
  const char* name;
  llama_ftype number;
  bool promised;  ///< on x86 with AVX2 and FMA
};

constexpr Type kTypes[] = {
    {"Q4_1", LLAMA_FTYPE_MOSTLY_Q4_1, true},  {"Q8_0", LLAMA_FTYPE_MOSTLY_Q8_0, true},
    {"Q4_0", LLAMA_FTYPE_MOSTLY_Q4_0, false}, {"Q5_0", LLAMA_FTYPE_MOSTLY_Q5_0, false},
    {"Q5_1", LLAMA_FTYPE_MOSTLY_Q5_1, false}, {"Q4_K", LLAMA_FTYPE_MOSTLY_Q4_K_M, false},
    {"F16", LLAMA_FTYPE_MOSTLY_F16, false},   {"F32", LLAMA_FTYPE_ALL_F32, false}};

/// SmolLM2 with its weights as another type, written by llama.cpp into the folder for temporary
/// files.
class Rewritten {
 public:
  explicit Rewritten(const Type& type)
      : path_(fs::path(::testing::TempDir()) /
              ("swarmkv_" + std::to_string(::getpid()) + "_" + type.name + ".gguf")) {
    llama_model_quantize_params params = llama_model_quantize_default_params();
    params.nthread = 2;
    params.ftype = type.number;
    params.allow_requantize = true;
    EXPECT_EQ(llama_model_quantize(smollm2_path().c_str(), path_.c_str(), &params), 0u);
    model_ = load_llama_model({.path = path_.string(), .n_gpu_layers = 0, .log = {}});
  }
  ~Rewritten() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  Rewritten(const Rewritten&) = delete;
  Rewritten& operator=(const Rewritten&) = delete;

  [[nodiscard]] const Model& model() const { return *model_; }

 private:
  fs::path path_;
  std::shared_ptr<const Model> model_;
};

TEST(LongBatchTypes, WhatIsPromisedHolds) {
  (void)smollm2();  // loading anything silences the runtime
  for (const Type& type : kTypes) {
    SCOPED_TRACE(type.name);
    const Rewritten rewritten(type);
    ContextOptions options = small_context(512, 8);
    options.deterministic = true;
    const bool promised = rewritten.model().make_context(options)->batch_invariant();
#if defined(__x86_64__)
    EXPECT_EQ(promised, type.promised) << rewritten.model().why_not_batch_invariant(options);
#endif
    const std::vector<float> alone = logits_in(rewritten.model(), {});
    Company crowd;
    crowd.n_siblings = 9;
    crowd.place = 4;
    const bool among_others = logits_in(rewritten.model(), crowd) == alone;
    Company pieces;
    pieces.chunk = 7;
    const bool in_pieces = logits_in(rewritten.model(), pieces) == alone;

    RecordProperty(std::string(type.name) + "_among_others", among_others ? "equal" : "different");
    RecordProperty(std::string(type.name) + "_in_pieces", in_pieces ? "equal" : "different");
    EXPECT_TRUE(among_others || !promised);
    EXPECT_TRUE(in_pieces || !promised);
  }
}

}  // namespace
}  // namespace swarmkv::internal
