// What a restore leaves that fails after a part of it is in the cache: nothing, in no cell and in
// no sequence id. Every kind of model, the fault in the first, the middle and the last tensor.
#include "model/llama_fixture.h"
#include "model/snapshot_rig.h"

namespace swarmkv::internal {
namespace {

using swarmkv::testing::change_type;
using swarmkv::testing::nth_tensor;
using swarmkv::testing::spoil_numbers;

constexpr int kDocument = 64, kBranches = 8, kCells = 256;
constexpr SeqId kTarget = 1;

struct KindOfModel {
  const char* name;
  ForkKind kind;
};

class SnapshotResidue : public ::testing::TestWithParam<KindOfModel> {
 protected:
  [[nodiscard]] std::unique_ptr<Context> make() const {
    ContextOptions options = small_context(kCells, kBranches + 2);
    options.deterministic = true;
    return model->make_context(options);
  }

  // The document in `kTarget`, and what eight branches of it see.
  [[nodiscard]] std::vector<std::vector<float>> read_and_branch(Context& context) const {
    std::vector<std::vector<float>> logits;
    logits.push_back(feed(context, kTarget, document));
    for (int i = 0; i < kBranches; ++i) {
      const SeqId branch = kTarget + 1 + i;
      context.fork(kTarget, branch, kDocument);
      logits.push_back(feed(context, branch, some_tokens(*model, 4, 20 + i)));
    }
    for (SeqId seq = kTarget; seq <= kTarget + kBranches; ++seq) context.release(seq);
    return logits;
  }

  const std::shared_ptr<const Model> model =
      std::string(GetParam().name) == "smollm2" ? smollm2() : tiny(GetParam().name);
  const Tokens document = some_tokens(*model, kDocument);
};

INSTANTIATE_TEST_SUITE_P(Kinds, SnapshotResidue,
                         ::testing::Values(KindOfModel{"smollm2", ForkKind::kFull},
                                           KindOfModel{"llama", ForkKind::kFull},
                                           KindOfModel{"gemma3", ForkKind::kWindow},
                                           KindOfModel{"mamba", ForkKind::kRecurrent},
                                           KindOfModel{"lfm2", ForkKind::kRecurrent}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(SnapshotResidue, TwentyRoundsAreEachLikeACleanContext) {
  const auto clean = make();
  const auto expected = read_and_branch(*clean);
  (void)feed(*clean, 0, document);
  const SequenceState good = clean->save(0, Where::kHost);
  const auto lasting = make();
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    std::vector<std::uint8_t> bad = good.bytes;
    change_type(bad, nth_tensor(bad, {GetParam().kind, false, kDocument}, round));
    EXPECT_NO_THROW((void)read_kv_state(bad, {GetParam().kind, false, kDocument}))
        << "only the runtime itself may find it";
    expect_error(ErrorCode::kCorrupt, "bytes", [&] { lasting->load(bad, kDocument, kTarget); });
    ASSERT_EQ(lasting->length(kTarget), 0);

    EXPECT_EQ(read_and_branch(*lasting), expected) << "bit for bit, in the id that was tried";
  }
}

// Twenty documents of 64 cells would not fit: what a failed restore took is free again.
TEST_P(SnapshotResidue, NoCellIsLost) {
  const auto context = make();
  (void)feed(*context, 0, document);
  std::vector<std::uint8_t> bad = context->save(0, Where::kHost).bytes;
  context->release(0);
  change_type(bad, nth_tensor(bad, {GetParam().kind, false, kDocument}, 2));
  for (int round = 0; round < 20; ++round) {
    EXPECT_THROW(context->load(bad, kDocument, kTarget), Error);
  }
  if (GetParam().kind == ForkKind::kRecurrent && std::string(GetParam().name) == "mamba") return;
  EXPECT_NO_THROW((void)feed(*context, kTarget, some_tokens(*model, kCells)))
      << "all of the " << kCells << " cells";
}

// Whatever the place of a number that is none: it is refused before any context hears of it.
TEST_P(SnapshotResidue, WhatIsNoNumberDoesNotComeNearACache) {
  const auto context = make();
  (void)feed(*context, 0, document);
  const SequenceState good = context->save(0, Where::kHost);
  for (int round = 0; round < 6; ++round) {
    std::vector<std::uint8_t> bad = good.bytes;
    const auto tensor = nth_tensor(bad, {GetParam().kind, false, kDocument}, round);
    if (tensor.n_bytes == 0) continue;  // a hybrid's layer without a state of that kind
    spoil_numbers(bad, tensor, round >= 3);
    expect_error(ErrorCode::kCorrupt, "not finite", [&] { model->check_state(bad, kDocument); });
  }
}

}  // namespace
}  // namespace swarmkv::internal
