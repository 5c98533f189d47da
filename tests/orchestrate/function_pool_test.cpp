#include "orchestrate/function_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

// Runs one function and waits for what became of it.
NodeOutcome outcome_of(FunctionPool& pool, const std::string& name,
                       FunctionPool::Function function) {
  std::promise<NodeOutcome> promise;
  pool.submit(name, std::move(function),
              [&](NodeOutcome outcome) { promise.set_value(std::move(outcome)); });
  return promise.get_future().get();
}

TEST(FunctionPool, AnswersWhatTheFunctionReturns) {
  FunctionPool pool(1);

  const NodeOutcome outcome = outcome_of(pool, "count", [] { return std::string("42"); });

  EXPECT_EQ(outcome.status, NodeOutcome::Status::kFinished);
  EXPECT_EQ(outcome.answer, "42");
}

TEST(FunctionPool, WhateverIsThrownFailsTheNodeByNameAndThePoolGoesOn) {
  FunctionPool pool(1);

  const NodeOutcome standard =
      outcome_of(pool, "one", []() -> std::string { throw std::runtime_error("no luck"); });
  const NodeOutcome other = outcome_of(pool, "two", []() -> std::string { throw 42; });
  const NodeOutcome ours = outcome_of(
      pool, "three", []() -> std::string { throw Error(ErrorCode::kUnreadable, "no file"); });
  const NodeOutcome empty = outcome_of(pool, "four", nullptr);

  EXPECT_EQ(standard.status, NodeOutcome::Status::kFailed);
  EXPECT_EQ(standard.error, "[function.one] no luck");
  EXPECT_EQ(other.status, NodeOutcome::Status::kFailed);
  EXPECT_EQ(other.error, "[function.two] threw something that is not a std::exception");
  EXPECT_EQ(ours.error_code, ErrorCode::kUnreadable);
  EXPECT_EQ(empty.status, NodeOutcome::Status::kFailed);
  EXPECT_EQ(outcome_of(pool, "five", [] { return std::string("ok"); }).answer, "ok");
}

TEST(FunctionPool, AFunctionMayRunAndAwaitAnotherPoolEvenWithOneThread) {
  FunctionPool pool(1);

  const NodeOutcome outcome = outcome_of(pool, "outer", [] {
    FunctionPool inner(1);
    return outcome_of(inner, "inner", [] { return std::string("nested"); }).answer;
  });

  EXPECT_EQ(outcome.answer, "nested");
}

// Each of four functions waits until all four have begun: in series they would never end.
TEST(FunctionPool, FunctionsReallyRunAtTheSameTime) {
  constexpr int kThreads = 4;
  FunctionPool pool(kThreads);
  std::promise<void> all_began;
  const std::shared_future<void> everybody = all_began.get_future().share();
  std::atomic<int> n_began{0};
  std::vector<std::promise<void>> ended(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    pool.submit(
        "n",
        [&] {
          if (++n_began == kThreads) all_began.set_value();
          everybody.wait();
          return std::string();
        },
        [&, i](NodeOutcome) { ended[static_cast<std::size_t>(i)].set_value(); });
  }

  for (std::promise<void>& end : ended) {
    ASSERT_EQ(end.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  }
}

TEST(FunctionPool, UsesNoMoreThreadsThanItWasGiven) {
  std::atomic<int> n_made{0};
  FunctionPool pool(2, [&](std::function<void()> work) {
    ++n_made;
    return std::thread(std::move(work));
  });
  std::atomic<int> n_running{0}, most{0};
  std::vector<std::promise<void>> ended(200);
  for (std::promise<void>& end : ended) {
    pool.submit(
        "n",
        [&] {
          const int now = ++n_running;
          int seen = most.load();
          while (now > seen && !most.compare_exchange_weak(seen, now)) {
          }
          --n_running;
          return std::string();
        },
        [&](NodeOutcome) { end.set_value(); });
  }
  for (std::promise<void>& end : ended) end.get_future().wait();

  EXPECT_EQ(n_made, 2);
  EXPECT_LE(most, 2);
}

TEST(FunctionPool, AThreadThatCannotBeCreatedIsACleanError) {
  int n_made = 0;
  try {
    const FunctionPool pool(8, [&](std::function<void()> work) {
      if (n_made == 3)
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
      ++n_made;
      return std::thread(std::move(work));
    });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDoesNotFit);
    EXPECT_NE(std::string(error.what()).find("thread 4 of 8"), std::string::npos) << error.what();
  }
  EXPECT_THROW(FunctionPool(0), Error);
}

TEST(FunctionPool, DropsWhatHasNotBegunWhenItIsDestroyed) {
  std::promise<void> began, go_on;
  std::shared_future<void> go = go_on.get_future().share();
  std::vector<NodeOutcome> outcomes(3);
  std::atomic<int> n_ran{0};
  {
    FunctionPool pool(1);
    pool.submit(
        "first",
        [&] {
          began.set_value();
          go.wait();
          return std::string("done");
        },
        [&](NodeOutcome outcome) { outcomes[0] = std::move(outcome); });
    for (std::size_t i = 1; i < 3; ++i) {
      pool.submit(
          "late", [&] { return ++n_ran, std::string(); },
          [&, i](NodeOutcome outcome) {
            outcomes[i] = std::move(outcome);
            if (i == 2)
              go_on.set_value();  // only the destructor can end this one while the first still runs
          });
    }
    began.get_future().wait();
  }

  EXPECT_EQ(outcomes[0].answer, "done");
  EXPECT_EQ(outcomes[1].status, NodeOutcome::Status::kCancelled);
  EXPECT_EQ(outcomes[2].status, NodeOutcome::Status::kCancelled);
  EXPECT_EQ(n_ran, 0);
}

TEST(FunctionPool, CancelsWhatHasNotBegunAndNothingElse) {
  std::promise<void> began, go_on, ended;
  FunctionPool pool(1);
  const FunctionPool::TaskId running = pool.submit(
      "running",
      [&] {
        began.set_value();
        go_on.get_future().wait();
        return std::string();
      },
      [&](NodeOutcome) { ended.set_value(); });
  NodeOutcome outcome;
  const FunctionPool::TaskId queued = pool.submit(
      "queued", [] { return std::string(); }, [&](NodeOutcome o) { outcome = std::move(o); });
  began.get_future().wait();

  EXPECT_TRUE(pool.cancel(queued));
  EXPECT_FALSE(pool.cancel(queued));
  EXPECT_FALSE(pool.cancel(running));
  EXPECT_EQ(outcome.status, NodeOutcome::Status::kCancelled);
  go_on.set_value();
  ended.get_future().wait();
}

TEST(FunctionPool, TwoHundredPoolsOneAfterAnotherLeaveNothingBehind) {
  for (int i = 0; i < 200; ++i) {
    FunctionPool pool(2);
    EXPECT_EQ(outcome_of(pool, "n", [] { return std::string("x"); }).answer, "x");
  }
}

TEST(FunctionPool, AFunctionsCapturesAreGoneBeforeItsEndIsAnnounced) {
  FunctionPool pool(1);
  auto held = std::make_shared<int>(1);
  std::promise<long> uses;
  pool.submit(
      "n", [held] { return std::to_string(*held); },
      [&, watch = std::weak_ptr<int>(held)](NodeOutcome) { uses.set_value(watch.use_count()); });

  EXPECT_EQ(uses.get_future().get(), 1) << "only the test itself still holds it";
}

}  // namespace
}  // namespace swarmkv::internal
