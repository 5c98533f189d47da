// Saving a sequence and loading it again: exact, or an error that names both numbers.
#include <gtest/gtest.h>

#include "engine/fake/fake_engine.h"
#include "support/fork_kinds.h"

namespace swarmkv::internal {
namespace {

constexpr Where kBoth[] = {Where::kHost, Where::kDevice};

std::shared_ptr<const FakeModel> model_of(ForkKind kind = ForkKind::kFull) {
  FakeOptions options;
  options.fork_kind = kind;
  options.n_swa = kind == ForkKind::kWindow ? 8 : 0;
  return make_fake_model(options);
}

std::unique_ptr<FakeContext> context_of(const FakeModel& model, int n_cells = 200) {
  return model.make_fake_context({.n_cells = n_cells, .n_seq_max = 4, .n_batch = 100});
}

void feed(FakeContext& context, SeqId seq, const std::string& text) {
  Batch batch;
  Pos pos = context.length(seq);
  for (const char c : text) batch.push_back({static_cast<unsigned char>(c), pos++, seq, false});
  batch.back().logits = true;
  ASSERT_EQ(context.forward(batch), ForwardStatus::kOk);
}

std::vector<float> logits_after(FakeContext& context, SeqId seq, const std::string& text) {
  feed(context, seq, text);
  const auto row = context.logits(static_cast<int>(text.size()) - 1);
  return {row.begin(), row.end()};
}

template <typename Action>
std::string error_of(ErrorCode code, Action action) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

class FakeStateKinds : public ::testing::TestWithParam<ForkKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, FakeStateKinds, every_fork_kind(), fork_kind_name);

TEST_P(FakeStateKinds, ComesBackInAnotherContextAsItWas) {
  const auto model = model_of(GetParam());
  const auto first = context_of(*model);
  const auto second = context_of(*model);
  feed(*first, 0, "a document of some length");

  const SequenceState state = first->save(0, Where::kHost);
  second->load(state, 2);

  EXPECT_EQ(state.length, 25);
  EXPECT_EQ(state.bytes.size(), first->state_size(0, Where::kHost));
  EXPECT_EQ(second->tokens(2), first->tokens(0));
  EXPECT_EQ(logits_after(*second, 2, " and more"), logits_after(*first, 0, " and more"));
  EXPECT_EQ(second->integrity_fault(), "");
}

TEST_P(FakeStateKinds, ComesBackFromTheDeviceAfterItsCellsAreGone) {
  const auto model = model_of(GetParam());
  const auto context = context_of(*model, 30);
  feed(*context, 0, "a document of some length");
  const Tokens tokens = context->tokens(0);

  const SequenceState state = context->save(0, Where::kDevice);
  context->release(0);
  context->load(state, 1);

  EXPECT_LT(state.bytes.size(), state.size_bytes);
  EXPECT_EQ(context->tokens(1), tokens);
  EXPECT_EQ(context->n_used_cells(), 25);
}

TEST(FakeState, SizeIsThatOfTheFilledSequence) {
  const auto model = model_of();
  const auto context = context_of(*model);
  const std::uint64_t empty = context->state_size(0, Where::kHost);
  feed(*context, 0, "0123456789");
  EXPECT_EQ(context->state_size(0, Where::kHost), empty + 10 * sizeof(Token));
}

TEST(FakeState, OfAWindowModelForksAtItsEndOnly) {
  const auto model = model_of(ForkKind::kWindow);
  const auto context = context_of(*model);
  feed(*context, 0, "a document of some length");
  context->load(context->save(0, Where::kHost), 1);
  EXPECT_TRUE(context->can_fork(0, 10));
  EXPECT_FALSE(context->can_fork(1, 10));
  EXPECT_TRUE(context->can_fork(1, 25));
}

TEST(FakeState, RefusesWhatIsNotThere) {
  const auto model = model_of();
  const auto context = context_of(*model);
  for (const Where where : kBoth) {
    error_of(ErrorCode::kInvalidArgument, [&] { (void)context->save(0, where); });
    error_of(ErrorCode::kInvalidArgument, [&] { (void)context->save(4, where); });
  }
  feed(*context, 0, "document");
  const SequenceState state = context->save(0, Where::kHost);
  error_of(ErrorCode::kInvalidArgument, [&] { context->load(state, 0); });
}

TEST(FakeState, OnTheDeviceBelongsToItsContextAndToItsLastSave) {
  const auto model = model_of();
  const auto context = context_of(*model);
  const auto other = context_of(*model);
  feed(*context, 0, "document");
  feed(*other, 0, "document");
  const SequenceState old = context->save(0, Where::kDevice);
  error_of(ErrorCode::kInvalidArgument, [&] { other->load(old, 1); });
  feed(*context, 0, "longer");
  (void)context->save(0, Where::kDevice);
  error_of(ErrorCode::kInvalidArgument, [&] { context->load(old, 1); });
  EXPECT_EQ(context->length(1), 0);
}

TEST(FakeState, ShortByAnyNumberOfBytesIsCorruptAndLeavesNothing) {
  const auto model = model_of();
  const auto context = context_of(*model);
  feed(*context, 0, "document");
  const SequenceState whole = context->save(0, Where::kHost);
  for (std::size_t n = 0; n < whole.bytes.size(); ++n) {
    SequenceState state = whole;
    state.bytes.resize(n);
    const std::string error = error_of(ErrorCode::kCorrupt, [&] { context->load(state, 1); });
    EXPECT_NE(error.find(std::to_string(n) + " bytes"), std::string::npos) << error;
    ASSERT_EQ(context->length(1), 0);
  }
  SequenceState longer = whole;
  longer.length += 1;
  error_of(ErrorCode::kCorrupt, [&] { context->load(longer, 1); });
  EXPECT_EQ(context->length(1), 0);
}

TEST(FakeState, FaultsMakeTheKthSaveOrLoadShort) {
  const auto model = model_of();
  const auto context = context_of(*model);
  feed(*context, 0, "document");
  model->faults().short_save_at(2, 0);
  model->faults().short_load_at(2, 11);
  const SequenceState state = context->save(0, Where::kHost);
  const std::string save_error =
      error_of(ErrorCode::kEngineFailed, [&] { (void)context->save(0, Where::kHost); });
  EXPECT_NE(save_error.find("wrote 0"), std::string::npos) << save_error;
  context->load(state, 1);
  const std::string error = error_of(ErrorCode::kCorrupt, [&] { context->load(state, 2); });
  EXPECT_NE(error.find(std::to_string(state.bytes.size())), std::string::npos) << error;
  EXPECT_EQ(context->length(2), 0);
}

TEST(FakeState, NeedsRoom) {
  const auto model = model_of();
  const auto context = context_of(*model, 12);
  feed(*context, 0, "document");
  const SequenceState state = context->save(0, Where::kHost);
  error_of(ErrorCode::kCorrupt, [&] { context->load(state, 1); });
  context->release(0);
  context->load(state, 1);
  EXPECT_EQ(context->length(1), 8);
}

}  // namespace
}  // namespace swarmkv::internal
