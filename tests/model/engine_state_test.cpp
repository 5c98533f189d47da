// A sequence copied out of llama.cpp's cache and back: the same logits, or an error that names both
// byte counts and leaves nothing behind.
#include <gtest/gtest.h>

#include "llama_fixture.h"

namespace swarmkv::internal {
namespace {

constexpr Where kBoth[] = {Where::kHost, Where::kDevice};

class EngineStateKinds : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EngineStateKinds,
                         ::testing::Values("llama", "gemma3", "mamba", "lfm2"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(EngineStateKinds, ComesBackInAnotherContextWithTheSameLogits) {
  const auto model = tiny(GetParam());
  const auto first = model->make_context(exact_context());
  const auto second = model->make_context(exact_context());
  const Tokens document = some_tokens(*model, 100), question = some_tokens(*model, 7, 3);
  (void)feed(*first, 0, document);
  const std::uint64_t announced = first->state_size(0, Where::kHost);

  const SequenceState state = first->save(0, Where::kHost);
  second->load(state, 1);

  EXPECT_EQ(state.bytes.size(), announced);
  EXPECT_EQ(state.size_bytes, announced);
  EXPECT_GT(announced, first->state_size(3, Where::kHost) + 1000)
      << "an empty one has next to none";
  EXPECT_EQ(second->length(1), 100);
  const auto expected = feed(*first, 0, question);
  const auto got = feed(*second, 1, question);
  // The window's part of a state holds the window alone, so it comes back in other cells: the same
  // numbers, added in another order.
  const float bound = std::string(GetParam()) == "gemma3" ? 1e-4F : 0;
  EXPECT_LE(largest_difference(expected, got), bound) << "same cells, same cuts";
}

TEST_P(EngineStateKinds, ComesBackFromTheDeviceManyTimes) {
  const auto model = tiny(GetParam());
  const auto context = model->make_context(exact_context(128, 3));
  const auto lone = model->make_context(exact_context(256, 3));
  const Tokens document = some_tokens(*model, 100);
  (void)feed(*context, 0, document);
  const SequenceState state = context->save(0, Where::kDevice);
  context->release(0);
  EXPECT_LT(state.bytes.size(), state.size_bytes) << "keys and values do not pass host memory";
  for (int i = 0; i < 3; ++i) {
    const Tokens question = some_tokens(*model, 5 + i, i);
    context->load(state, 1);
    const auto got = feed(*context, 1, question);
    context->release(1);
    (void)feed(*lone, 0, document);
    EXPECT_LT(largest_difference(got, feed(*lone, 0, question)), 1e-3F);
    lone->release(0);
  }
}

TEST_P(EngineStateKinds, ShortOrDamagedIsCorruptAndLeavesTheTargetEmpty) {
  const auto model = tiny(GetParam());
  const auto context = model->make_context(exact_context());
  (void)feed(*context, 0, some_tokens(*model, 40));
  const SequenceState whole = context->save(0, Where::kHost);
  for (const std::size_t n : {std::size_t{0}, std::size_t{3}, std::size_t{8}, std::size_t{60},
                              whole.bytes.size() / 2, whole.bytes.size() - 1}) {
    SequenceState state = whole;
    state.bytes.resize(n);
    expect_error(ErrorCode::kCorrupt, std::to_string(n) + " bytes",
                 [&] { context->load(state, 1); });
    ASSERT_EQ(context->length(1), 0) << n;
  }
  SequenceState wrong = whole;
  wrong.bytes[0] ^= 0xff;
  expect_error(ErrorCode::kCorrupt, std::to_string(whole.bytes.size()) + " bytes",
               [&] { context->load(wrong, 1); });
  SequenceState longer = whole;
  longer.length = 41;
  expect_error(ErrorCode::kCorrupt, "41 positions", [&] { context->load(longer, 1); });
  EXPECT_EQ(context->length(1), 0);
  context->load(whole, 1);  // and the cache is as good as before
  const Tokens question = some_tokens(*model, 5, 2);
  EXPECT_LT(largest_difference(feed(*context, 1, question), feed(*context, 0, question)), 1e-3F);
}

TEST(EngineState, NeedsRoomForCellsOfItsOwn) {
  const auto model = tiny("llama");
  const auto context = model->make_context(exact_context(256));
  (void)feed(*context, 0, some_tokens(*model, 150));
  const SequenceState host = context->save(0, Where::kHost);
  const SequenceState device = context->save(0, Where::kDevice);
  for (const SequenceState* state : {&host, &device}) {
    expect_error(ErrorCode::kCorrupt, std::to_string(state->bytes.size()) + " bytes",
                 [&] { context->load(*state, 1); });
    EXPECT_EQ(context->length(1), 0);
  }
  context->release(0);
  context->load(device, 1);
  EXPECT_EQ(context->length(1), 150);
}

TEST(EngineState, RefusesWhatWouldEndTheProcess) {
  const auto model = tiny("llama");
  const auto context = model->make_context(exact_context());
  const auto other = model->make_context(exact_context());
  for (const Where where : kBoth) {
    expect_error(ErrorCode::kInvalidArgument, "empty", [&] { (void)context->save(0, where); });
    expect_error(ErrorCode::kInvalidArgument, "99", [&] { (void)context->save(99, where); });
  }
  (void)feed(*context, 0, some_tokens(*model, 30));
  const SequenceState old = context->save(0, Where::kDevice);
  expect_error(ErrorCode::kInvalidArgument, "not empty", [&] { context->load(old, 0); });
  expect_error(ErrorCode::kInvalidArgument, "another context", [&] { other->load(old, 1); });
  (void)feed(*context, 0, some_tokens(*model, 10, 1));
  const SequenceState fresh = context->save(0, Where::kDevice);
  expect_error(ErrorCode::kInvalidArgument, "saved over", [&] { context->load(old, 1); });
  context->load(fresh, 1);
  EXPECT_EQ(context->length(1), 40);
}

}  // namespace
}  // namespace swarmkv::internal
