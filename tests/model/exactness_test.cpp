// Exactness on tiny models of every kind: also in a pool too small for all, and across an abort.
#include "model/exactness_rig.h"
#include "support/model_files.h"

namespace swarmkv::internal {
namespace {

struct Case {
  const char* kind;
  int n_cells;
  int abort_at;
};

class Exactness : public ::testing::TestWithParam<Case> {};

TEST_P(Exactness, SharedBranchesSeeTheCellsOfALoneRun) {
  const Case c = GetParam();
  const auto model = load_llama_model({.path = tiny_path(c.kind), .n_gpu_layers = 0, .log = {}});
  std::mt19937 rng(8);
  ExactnessCase exactness;
  exactness.document = random_ids(rng, 150);  // much longer than the window
  exactness.fork_at = 70;
  exactness.holes = {3, 69, 120};
  if (std::string(c.kind) == "gemma3") {
    exactness.reach = 30;
    // Its GELU is looked up in a table of half floats, which makes steps of rounding: lone runs
    // whose cells lie elsewhere differ by up to 2e-3 as well (240 runs), a missing cell by 1.3.
    exactness.bound = 1e-2f;
  }
  exactness.n_cells = c.n_cells;
  exactness.abort_at = c.abort_at;
  ExactnessRig(*model).expect_exact(exactness);
}

std::string name_of(const Case& c) {
  return std::string(c.kind) + (c.n_cells < 1024 ? "CrowdedCache" : "") +
         (c.abort_at > 0 ? "Aborted" : "");
}

INSTANTIATE_TEST_SUITE_P(Kinds, Exactness,
                         ::testing::Values(Case{"llama", 1024, 0}, Case{"llama", 230, 0},
                                           Case{"llama", 1024, 4}, Case{"gemma3", 1024, 0},
                                           Case{"gemma3", 230, 0}, Case{"gemma3", 1024, 4},
                                           Case{"mamba", 1024, 0}, Case{"mamba", 1024, 5},
                                           Case{"lfm2", 1024, 0}, Case{"lfm2", 260, 0},
                                           Case{"lfm2", 1024, 5}),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace swarmkv::internal
