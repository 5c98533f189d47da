// What a snapshot is tied to and what it is not: the weights, not the file's name; the tokens, not
// the context they were computed in.
#include "model/snapshot_rig.h"

namespace swarmkv::testing {
namespace {

namespace fs = std::filesystem;
using namespace internal;
using swarmkv::Model;

class SnapshotIdentityOnModels : public SnapshotRig {};

// Other weights under the same path, with size and time stamp kept; then the first ones again.
TEST_F(SnapshotIdentityOnModels, OtherWeightsAtTheSamePathAreAMissAndTheOriginalAHitAgain) {
  const std::string path = parent_ / "model.gguf";
  fs::copy_file(tiny_path("llama"), path);
  const auto written = fs::last_write_time(path);
  const std::string original = read_bytes(path);
  std::string other = original;
  other[other.size() / 2] ^= 1;  // the last bits of some weight
  const auto run_with = [&](const std::string& weights) {
    write_bytes(path, weights);
    fs::last_write_time(path, written);
    const Model model = Model::load({.path = path});
    return ask_anew(model, {.text = text_of_tokens(model, 64), .use_template = false}, with_store(),
                    bit_equal(256));
  };
  EXPECT_EQ(run_with(original).documents[0].snapshot->state, "saved");

  const RunReport miss = run_with(other);

  EXPECT_EQ(miss.documents[0].computed_tokens, miss.documents[0].n_tokens);
  EXPECT_TRUE(miss.warnings.empty()) << "the file is sound, only another model's";
  EXPECT_EQ(miss.documents[0].snapshot->state, "saved");
  EXPECT_NE(miss.documents[0].snapshot->reason.value_or("").find("model fingerprint"),
            std::string::npos)
      << miss.documents[0].snapshot->reason.value_or("");
  EXPECT_EQ(run_with(other).documents[0].computed_tokens, 0);
  EXPECT_EQ(run_with(original).documents[0].computed_tokens, 0);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(SnapshotIdentityOnModels, KvTypeAndTemplateAreAMissAndTheOriginalAHitAgain) {
  const Model model = Model::load({.path = smollm2_path()});
  const Question q{.text = text_of_tokens(model, 64), .n_agents = 1, .n_answer = 1};
  (void)ask_anew(model, q, with_store());
  EngineOptions q8 = bit_equal();
  q8.cache_type_k = "q8_0";
  Question bare = q;
  bare.use_template = false;
  const RunReport other_type = ask_anew(model, q, with_store(), q8);
  EXPECT_EQ(other_type.documents[0].computed_tokens, other_type.documents[0].n_tokens);
  EXPECT_NE(other_type.documents[0].snapshot->reason.value_or("").find("q8_0"), std::string::npos);
  const RunReport no_template = ask_anew(model, bare, with_store());
  EXPECT_EQ(no_template.documents[0].computed_tokens, no_template.documents[0].n_tokens);
  EXPECT_EQ(ask_anew(model, q, with_store()).documents[0].computed_tokens, 0);
  EXPECT_EQ(ask_anew(model, q, with_store(), q8).documents[0].computed_tokens, 0);
  EXPECT_EQ(ask_anew(model, bare, with_store()).documents[0].computed_tokens, 0);
}

// Saved with one agent, read by eight and by sixty-four; another batch, thread count and pool.
TEST_F(SnapshotIdentityOnModels, TheContextItWasMadeInDoesNotMatter) {
  const Model model = Model::load({.path = smollm2_path()});
  Question q{.text = text_of_tokens(model, 64), .n_agents = 1, .n_answer = 1};
  const auto context = [](int n_agents, int batch, int threads, int cells) {
    EngineOptions options;
    options.parallel = n_agents;
    options.batch_size = batch;
    options.threads = threads;
    options.ctx_size = cells;
    return options;
  };
  (void)ask_anew(model, q, with_store(), context(1, 512, 2, 1024));
  const std::string one = read_bytes(only_file());
  q.n_agents = 8;
  EXPECT_EQ(ask_anew(model, q, with_store(), context(8, 64, 1, 2048)).documents[0].computed_tokens,
            0);
  q.n_agents = 64;
  EXPECT_EQ(
      ask_anew(model, q, with_store(), context(64, 256, 2, 8192)).documents[0].computed_tokens, 0);

  fs::remove_all(folder_);
  (void)ask_anew(model, q, with_store(), context(64, 256, 2, 8192));
  EXPECT_EQ(read_bytes(only_file()).size(), one.size()) << "as large from any context";
  q.n_agents = 1;
  EXPECT_EQ(ask_anew(model, q, with_store(), context(1, 512, 2, 1024)).documents[0].computed_tokens,
            0);
  const Question large{.text = text_of_tokens(model, 512), .n_agents = 1, .n_answer = 1};
  (void)ask_anew(model, large, with_store(), context(1, 512, 2, 1024));
  EXPECT_THROW((void)ask_anew(model, large, with_store(), context(1, 64, 1, 256)), Error)
      << "a pool of half the document is refused as ever";
}

// 300 tokens in a pool of 4,096 and of 32,768 cells.
TEST_F(SnapshotIdentityOnModels, SizeFollowsTheTokensAndNotThePool) {
  const Model model = Model::load({.path = smollm2_path()});
  const Question q{.text = text_of_tokens(model, 300), .n_agents = 1, .n_answer = 1};
  std::vector<std::uintmax_t> sizes;
  for (const int cells : {4096, 32768}) {
    fs::remove_all(folder_);
    const RunReport report = ask_anew(model, q, with_store(), bit_equal(cells));
    sizes.push_back(fs::file_size(only_file()));
    const double by_the_model = static_cast<double>(model.describe().kv_bytes_per_token) *
                                report.documents[0].snapshot->n_tokens;
    EXPECT_NEAR(static_cast<double>(sizes.back()) / by_the_model, 1.0, 0.05);
  }
  EXPECT_EQ(sizes[0], sizes[1]);
}

}  // namespace
}  // namespace swarmkv::testing
