#include "engine/fake/fake_faults.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <thread>

#include "engine/fake_fixture.h"

namespace swarmkv::internal {
namespace {

std::unique_ptr<FakeContext> context_of(FakeOptions options = {}) {
  return make_fake_model(std::move(options))->make_fake_context(ContextOptions{});
}

TEST(FakeFaults, FailsTheChosenForwardsAndLeavesTheCacheAlone) {
  const auto context = context_of();
  context->faults().fail_at(2, ForwardStatus::kNoSlot, 2);
  context->faults().fail_at(4, ForwardStatus::kFatal);
  std::vector<ForwardStatus> statuses;

  for (int i = 0; i < 5; ++i) statuses.push_back(context->forward(next_tokens(*context, 0, "ab")));

  const std::vector<ForwardStatus> expected = {ForwardStatus::kOk, ForwardStatus::kNoSlot,
                                               ForwardStatus::kNoSlot, ForwardStatus::kFatal,
                                               ForwardStatus::kOk};
  EXPECT_EQ(statuses, expected);
  EXPECT_EQ(context->length(0), 4);
  EXPECT_EQ(context->integrity_fault(), "");
}

TEST(FakeFaults, FailsForEverWhenTold) {
  const auto context = context_of();
  context->faults().fail_at(3, ForwardStatus::kFatal, FakeFaults::kForever);

  for (int k = 1; k <= 50; ++k) {
    const ForwardStatus status = context->forward(next_tokens(*context, 0, "a"));
    ASSERT_EQ(status, k < 3 ? ForwardStatus::kOk : ForwardStatus::kFatal);
  }
}

TEST(FakeFaults, LeavesPartOfAFatalBatchBehind) {
  const auto context = context_of();
  context->faults().fail_at(1, ForwardStatus::kFatal, 1, 3);

  EXPECT_EQ(context->forward(next_tokens(*context, 0, "abcde")), ForwardStatus::kFatal);

  EXPECT_EQ(fake_text(context->tokens(0)), "abc");
  EXPECT_EQ(context->integrity_fault(), "");
}

TEST(FakeFaults, ThrowsWhateverATestNeeds) {
  const auto context = context_of();
  context->faults().throw_error_at(1, ErrorCode::kEngineFailed);
  context->faults().throw_std_at(2);
  context->faults().throw_other_at(3);
  const auto forward = [&] { (void)context->forward(next_tokens(*context, 0, "a")); };

  EXPECT_EQ(thrown(forward), "engine_failed");
  EXPECT_THROW(forward(), std::runtime_error);
  EXPECT_THROW(forward(), int);
  EXPECT_EQ(context->length(0), 0);
  forward();
  EXPECT_EQ(context->length(0), 1);
}

TEST(FakeFaults, ThrowsWhileSampling) {
  const auto context = context_of();
  context->faults().throw_at_sample(2, [] { throw std::runtime_error("no"); });

  EXPECT_GE(feed(*context, 0, "a"), 0);
  EXPECT_THROW(feed(*context, 0, "a"), std::runtime_error);
  EXPECT_GE(feed(*context, 0, "a"), 0);
}

TEST(FakeFaults, AbortsTheNextForwardOnce) {
  const auto context = context_of();
  context->abort();

  EXPECT_EQ(context->forward(next_tokens(*context, 0, "abc")), ForwardStatus::kAborted);
  EXPECT_EQ(context->length(0), 0);
  EXPECT_EQ(context->forward(next_tokens(*context, 0, "abc")), ForwardStatus::kOk);
}

TEST(FakeFaults, AbortsInTheMiddleOfAForwardThroughTheHook) {
  const auto context = context_of();
  context->faults().on_forward([&](int k, const Batch&) {
    if (k == 2) context->abort();
  });

  EXPECT_EQ(context->forward(next_tokens(*context, 0, "a")), ForwardStatus::kOk);
  EXPECT_EQ(context->forward(next_tokens(*context, 0, "b")), ForwardStatus::kAborted);
  EXPECT_EQ(context->length(0), 1);
}

TEST(FakeFaults, AbortEndsADelayAtOnce) {
  const auto context = context_of();
  context->faults().set_token_delay(std::chrono::hours(1));
  std::promise<void> inside;
  context->faults().on_forward([&](int, const Batch&) { inside.set_value(); });
  ForwardStatus status = ForwardStatus::kOk;

  std::thread engine([&] { status = context->forward(next_tokens(*context, 0, "a")); });
  inside.get_future().wait();
  context->abort();
  engine.join();

  EXPECT_EQ(status, ForwardStatus::kAborted);
}

TEST(FakeFaults, SpoilsRecurrentStatesThatWereAborted) {
  FakeOptions options;
  options.fork_kind = ForkKind::kRecurrent;
  const auto context = context_of(options), whole = context_of(options);
  feed(*context, 0, "document");
  context->abort();

  EXPECT_EQ(context->forward(next_tokens(*context, 0, "ab")), ForwardStatus::kAborted);

  EXPECT_EQ(context->length(0), 10)
      << "the position shows the aborted tokens, as it does in llama.cpp";
  EXPECT_NE(generate(*context, 0, "?", 40), generate(*whole, 0, "documentab?", 40))
      << "going on from there must not pass for the right answer";
  context->release(0);
  feed(*context, 0, "document");
  whole->release(0);
  EXPECT_EQ(generate(*context, 0, "ab?", 40), generate(*whole, 0, "documentab?", 40));
}

TEST(FakeFaults, ReachesContextsThatOthersMake) {
  const auto model = make_fake_model();
  FakeContext* seen = nullptr;
  model->faults().on_context([&](FakeContext& context) { seen = &context; });

  const auto context = model->make_context(ContextOptions{});
  EXPECT_EQ(seen, context.get());

  model->faults().refuse_contexts(ErrorCode::kDoesNotFit);
  EXPECT_EQ(thrown([&] { (void)model->make_context(ContextOptions{}); }), "does_not_fit");
}

}  // namespace
}  // namespace swarmkv::internal
