// Where each kind of model may be forked and cut, on tiny random models.
#include "model/llama_fixture.h"

namespace swarmkv::internal {
namespace {

constexpr float kExact = 1e-3f;

Tokens joined(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(EngineKinds, AreTheRuntimesWordNotTheNames) {
  EXPECT_EQ(tiny("llama")->info().fork_kind, ForkKind::kFull);
  EXPECT_EQ(tiny("gemma3")->info().fork_kind, ForkKind::kWindow);
  EXPECT_GT(tiny("gemma3")->info().n_swa, 0);
  EXPECT_EQ(tiny("mamba")->info().fork_kind, ForkKind::kRecurrent);
  EXPECT_EQ(tiny("lfm2")->info().fork_kind, ForkKind::kRecurrent);
  EXPECT_EQ(tiny("mamba")->kv_bytes_per_cell(KvType::kF16, KvType::kF16), 0u);
}

TEST(EngineKinds, ForkAWindowModelInMidDocumentFarBehindItsWindow) {
  const auto model = tiny("gemma3");
  const int window = model->info().n_swa;
  const int n = 3 * window + 11, k = window + 5;
  const Tokens document = some_tokens(*model, n), tail = some_tokens(*model, 6, 1);
  const ContextOptions options = exact_context(4 * n, 4, 2 * n);
  const auto lone = model->make_context(options);
  const std::vector<float> at_end = feed(*lone, 0, joined(document, tail));
  const std::vector<float> at_k =
      feed(*lone, 1, joined(Tokens(document.begin(), document.begin() + k), tail));
  const auto context = model->make_context(options);
  (void)feed(*context, 0, document);
  ASSERT_TRUE(context->can_fork(0, n));
  context->fork(0, 1, n);
  EXPECT_LT(largest_difference(feed(*context, 1, tail), at_end), kExact);
  ASSERT_TRUE(context->can_fork(0, k));
  context->fork(0, 2, k);
  EXPECT_LT(largest_difference(feed(*context, 2, tail), at_k), kExact);
}

TEST(EngineKinds, ForkAWindowModelInAFullPool) {
  const auto model = tiny("gemma3");
  const auto context = model->make_context(exact_context(256, 4, 256));
  (void)feed(*context, 0, some_tokens(*model, 250));
  context->fork(0, 1, 250);
  EXPECT_EQ(context->forward(next_tokens(*context, 1, some_tokens(*model, 7))),
            ForwardStatus::kNoSlot);
  (void)feed(*context, 1, some_tokens(*model, 6));
  EXPECT_EQ(context->length(1), 256);
  EXPECT_EQ(context->length(0), 250);
}

class RecurrentKind : public testing::TestWithParam<const char*> {};

TEST_P(RecurrentKind, ForksAtTheVeryEndOnlyAndThenExactly) {
  const auto model = tiny(GetParam());
  const Tokens document = some_tokens(*model, 40), tail = some_tokens(*model, 6, 1);
  const ContextOptions options = exact_context(512, 8);
  const auto lone = model->make_context(options);
  const std::vector<float> expected = feed(*lone, 0, joined(document, tail));
  const auto context = model->make_context(options);
  (void)feed(*context, 0, document);
  EXPECT_TRUE(context->can_fork(0, 40));
  EXPECT_FALSE(context->can_fork(0, 39));
  expect_error(ErrorCode::kInvalidArgument, "cannot be forked at 39",
               [&] { context->fork(0, 1, 39); });
  for (const SeqId seq : {1, 2, 3}) context->fork(0, seq, 40);
  for (const SeqId seq : {3, 1, 2}) {
    EXPECT_LT(largest_difference(feed(*context, seq, tail), expected), kExact) << seq;
  }
  EXPECT_EQ(context->length(0), 40);  // the holder stayed where it was
}

TEST_P(RecurrentKind, CannotBeCutInTheMiddle) {
  const auto model = tiny(GetParam());
  const auto context = model->make_context(exact_context());
  (void)feed(*context, 0, some_tokens(*model, 20));
  EXPECT_FALSE(context->truncate(0, 10));
  EXPECT_EQ(context->length(0), 20);
  EXPECT_TRUE(context->truncate(0, 20));
  EXPECT_TRUE(context->truncate(0, 0));
  EXPECT_EQ(context->length(0), 0);
}

TEST_P(RecurrentKind, TakesEqualLengthsInOneForwardAndRefusesOthers) {
  const auto model = tiny(GetParam());
  const ContextOptions options = exact_context(512, 8);
  const Tokens a = some_tokens(*model, 5), b = some_tokens(*model, 5, 1);
  const auto lone = model->make_context(options);
  const std::vector<float> expected_a = feed(*lone, 0, a), expected_b = feed(*lone, 1, b);
  const auto context = model->make_context(options);
  ASSERT_TRUE(context->batch_limits().equal_lengths);
  Batch batch = next_tokens(*context, 3, a);
  const Batch second = next_tokens(*context, 4, b);
  batch.insert(batch.end(), second.begin(), second.end());
  ASSERT_EQ(context->forward(batch), ForwardStatus::kOk);
  EXPECT_LT(largest_difference(context->logits(4), expected_a), kExact);
  EXPECT_LT(largest_difference(context->logits(9), expected_b), kExact);
  batch = next_tokens(*context, 3, a);
  batch.push_back({b[0], 5, 4, true});
  expect_error(ErrorCode::kInvalidArgument, "same number of tokens",
               [&] { (void)context->forward(batch); });
}

TEST_P(RecurrentKind, SurvivesAnAbortWithEveryStateIntact) {
  const auto model = tiny(GetParam());
  const ContextOptions options = exact_context(512, 8);
  const Tokens document = some_tokens(*model, 40), tail = some_tokens(*model, 6, 1);
  const auto lone = model->make_context(options);
  const std::vector<float> expected = feed(*lone, 0, joined(document, tail));
  const auto context = model->make_context(options);
  (void)feed(*context, 0, document);
  context->fork(0, 1, 40);
  context->abort();
  EXPECT_EQ(context->forward(next_tokens(*context, 1, some_tokens(*model, 9, 2))),
            ForwardStatus::kAborted);
  context->release(1);
  context->fork(0, 1, 40);
  EXPECT_LT(largest_difference(feed(*context, 1, tail), expected), kExact);
}

INSTANTIATE_TEST_SUITE_P(Tiny, RecurrentKind, testing::Values("mamba", "lfm2"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST(EngineKinds, TakeOnlyConsecutiveIdsWherePurelyRecurrent) {
  const auto mamba = tiny("mamba")->make_context(exact_context());
  EXPECT_TRUE(mamba->batch_limits().consecutive_ids);
  expect_error(ErrorCode::kInvalidArgument, "consecutive", [&] {
    (void)mamba->forward({{5, 0, 2, true}, {6, 0, 4, true}});
  });
  const auto lfm2 = tiny("lfm2")->make_context(exact_context());
  EXPECT_FALSE(lfm2->batch_limits().consecutive_ids);
  EXPECT_EQ(lfm2->forward({{5, 0, 4, true}, {6, 0, 1, true}}), ForwardStatus::kOk);
}

}  // namespace
}  // namespace swarmkv::internal
