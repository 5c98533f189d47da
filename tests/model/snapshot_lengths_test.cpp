// A window model's document of every length around its window and the edges of blocks and batches:
// what comes back from a file is right, or it is refused clearly and the document is read.
#include "engine/llama_engine.h"
#include "model/llama_fixture.h"
#include "model/snapshot_rig.h"

namespace swarmkv::testing {
namespace {

namespace fs = std::filesystem;
using namespace internal;
using swarmkv::Model;

constexpr int kWindow = 512, kBatch = 768;  // a forward may be longer than the window

const std::vector<int>& lengths() {
  static const std::vector<int> all = {
      2,       3,           127,        128,        129,
      130,     255,         256,        257,        kWindow - 1,
      kWindow, kWindow + 1, kBatch - 1, kBatch + 1, 2 * kWindow + 3};
  return all;
}

class LongGemmaSnapshotLengths : public SnapshotRig {
 protected:
  static EngineOptions options(bool deterministic) {
    EngineOptions options = bit_equal(2048);
    options.deterministic = deterministic;
    options.batch_size = kBatch;
    options.parallel = 2;
    return options;
  }
  // So many positions in all: there is a start token, and no template.
  static Question question(const Model& model, int n) {
    return {.text = text_of_tokens(model, n - 1, static_cast<unsigned>(n)),
            .n_agents = 2,
            .n_answer = 3,
            .use_template = false};
  }
};

TEST_F(LongGemmaSnapshotLengths, DeterministicModeIsBitEqualUpToTheWindowAndRefusesBeyond) {
  const Model model = Model::load({.path = gemma3_path()});
  ASSERT_EQ(model.describe().n_window, kWindow);
  for (const int n : lengths()) {
    SCOPED_TRACE(n);
    fs::remove_all(folder_);
    const Question q = question(model, n);

    const RunReport first = ask_anew(model, q, with_store(), options(true));
    const RunReport second = n <= kWindow ? ask_anew(model, q, with_store(), options(true)) : first;

    ASSERT_EQ(first.documents[0].n_tokens, n);
    EXPECT_EQ(first.documents[0].computed_tokens, n);
    EXPECT_EQ(second.exit_code, 0);
    EXPECT_TRUE(second.warnings.empty());
    const SnapshotReport& snapshot = *second.documents[0].snapshot;
    if (n <= kWindow) {
      EXPECT_EQ(snapshot.state, "restored") << snapshot.reason.value_or("");
      EXPECT_EQ(second.documents[0].computed_tokens, 0);
      EXPECT_EQ(answers_of(second), answers_of(first));
      EXPECT_EQ(second.peak_kv_cells, first.peak_kv_cells) << "base cells are counted";
    } else {
      EXPECT_EQ(snapshot.state, "skipped");
      EXPECT_NE(snapshot.reason.value_or("").find("longer than the model's window"),
                std::string::npos);
      EXPECT_EQ(answers_of(second).at(0).size(), 3u) << "it was read and answered";
      EXPECT_TRUE(files().empty());
    }
  }
}

TEST_F(LongGemmaSnapshotLengths, DefaultModeRestoresAllOfThem) {
  const Model model = Model::load({.path = gemma3_path()});
  for (const int n : lengths()) {
    SCOPED_TRACE(n);
    fs::remove_all(folder_);
    const Question q = question(model, n);
    const RunReport saved = ask_anew(model, q, with_store(), options(false));
    EXPECT_EQ(saved.documents[0].snapshot->state, "saved")
        << saved.documents[0].snapshot->reason.value_or("");
    const RunReport restored = ask_anew(model, q, with_store(), options(false));
    EXPECT_EQ(restored.documents[0].n_tokens, n);
    EXPECT_EQ(restored.documents[0].computed_tokens, 0);
    EXPECT_EQ(restored.exit_code, 0);
    EXPECT_TRUE(restored.warnings.empty());
    // What both agents hold at once differs by a token: the cold run's second one begins later.
    EXPECT_NEAR(restored.peak_kv_cells, saved.peak_kv_cells, q.n_agents)
        << "base cells are counted";
    for (const auto& answer : answers_of(restored)) {
      EXPECT_EQ(answer.size(), 3u) << "which tokens depends on the batch in this mode";
    }
  }
}

// The state itself, of any length: all positions in the part without a window, in the other one as
// many as somebody at the end can see; and a context that loaded it saves the same bytes again.
TEST(LongGemmaSnapshotState, HoldsEveryBaseCellAndTheWholeWindow) {
  const auto model = load_model(gemma3_path());
  const auto first = model->make_context(small_context(2048, 2, kBatch));
  const auto second = model->make_context(small_context(2048, 2, kBatch));
  for (const int n : lengths()) {
    SCOPED_TRACE(n);
    const Tokens document = some_tokens(*model, n);
    for (int at = 0; at < n; at += kBatch) {
      const auto piece = std::span(document).subspan(static_cast<std::size_t>(at));
      (void)feed(*first, 0, piece.first(std::min<std::size_t>(piece.size(), kBatch)));
    }
    const std::vector<std::uint8_t> state = first->save(0, Where::kHost).bytes;
    ASSERT_NO_THROW(model->check_state(state, n));
    const auto tensors = read_kv_state(state, {ForkKind::kWindow, false, n}).tensors;
    const std::size_t row_bytes = tensors.front().n_bytes / static_cast<std::size_t>(n);
    EXPECT_EQ(row_bytes * static_cast<std::size_t>(n), tensors.front().n_bytes);
    EXPECT_GE(tensors.back().n_bytes / row_bytes,
              static_cast<std::size_t>(std::min(n, kWindow - 1)));

    second->load(state, n, 0);

    EXPECT_EQ(second->length(0), n);
    EXPECT_EQ(second->save(0, Where::kHost).bytes, state);
    first->release(0);
    second->release(0);
  }
}

}  // namespace
}  // namespace swarmkv::testing
