// A scheduler that ends while there is work: everybody is told, nobody waits for ever.
#include <gtest/gtest.h>

#include <future>

#include "engine/fake/fake_engine.h"
#include "schedule/scheduler.h"
#include "support/forwarding_context.h"
#include "support/pipelines.h"
#include "support/texts.h"

namespace swarmkv::internal {
namespace {

using swarmkv::testing::Gate;

enum class At { kWaiting, kPrefilling, kDecoding };

// Says when the scheduler's end has begun: it is told to stop before its forward is aborted.
class TellingContext final : public ForwardingContext {
 public:
  TellingContext(std::unique_ptr<Context> inner, Gate& aborted)
      : ForwardingContext(std::move(inner)), aborted_(aborted) {}
  void abort() override {
    ForwardingContext::abort();
    aborted_.open();
  }

 private:
  Gate& aborted_;
};

// A scheduler whose forward number `stop_at` is held until somebody aborts or opens the gate.
struct Held {
  explicit Held(int stop_at, int n_parallel = 8)
      : model(make_fake_model({.eog_every = 0, .forced = {}})) {
    model->faults().on_forward([this, stop_at](int k, const Batch&) {
      if (k < stop_at) return;
      reached.open();
      if (k == stop_at) {
        EXPECT_TRUE(go_on.wait());
      }
    });
    SchedulerOptions options;
    options.n_parallel = n_parallel;
    auto context = std::make_unique<TellingContext>(
        model->make_context({.n_cells = 4000, .n_seq_max = 16, .n_batch = 64}), aborted);
    scheduler = std::make_unique<Scheduler>(model, std::move(context), options);
    document =
        std::make_shared<const Tokens>(model->tokenize(letters(500, 1), SpecialTokens::kPlainText));
  }
  std::shared_ptr<RequestTicket> ask(const std::string& text) {
    Request request;
    request.label = text;
    request.prefix = document;
    request.suffix = model->tokenize(text, SpecialTokens::kPlainText);
    request.max_tokens = 2000;
    return scheduler->submit(request);
  }
  Gate reached, go_on, aborted;
  std::shared_ptr<const FakeModel> model;
  std::shared_ptr<const Tokens> document;
  std::unique_ptr<Scheduler> scheduler;
};

class InState : public ::testing::TestWithParam<At> {};
std::string state_name(const ::testing::TestParamInfo<At>& info) {
  const char* names[] = {"Waiting", "Prefilling", "Decoding"};
  return names[static_cast<int>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(States, InState,
                         ::testing::Values(At::kWaiting, At::kPrefilling, At::kDecoding),
                         state_name);

// 500 document tokens are eight forwards of 64; the 20th forward is a decode of the first request.
int forward_in(At at) { return at == At::kDecoding ? 20 : 3; }

TEST_P(InState, CancelEndsARequest) {
  Held held(forward_in(GetParam()), GetParam() == At::kWaiting ? 1 : 8);
  const auto first = held.ask("first");
  const auto second = held.ask("second");
  ASSERT_TRUE(held.reached.wait());

  const auto& victim = GetParam() == At::kWaiting ? second : first;
  victim->cancel();
  held.go_on.open();
  const Result result = victim->wait();
  (GetParam() == At::kWaiting ? first : second)->cancel();

  EXPECT_EQ(result.state, RequestState::kCancelled);
  EXPECT_EQ(result.error_code, ErrorCode::kCancelled);
  EXPECT_EQ(result.admitted.has_value(), GetParam() != At::kWaiting);
  EXPECT_EQ(result.first_token.has_value(), GetParam() == At::kDecoding);
  EXPECT_EQ(result.tokens.empty(), GetParam() != At::kDecoding);
  victim->cancel();  // too late: nothing happens
  EXPECT_EQ(victim->wait().state, RequestState::kCancelled);
}

TEST_P(InState, DestroyingTheSchedulerEndsEveryRequestAndTicketsOutliveIt) {
  Held held(forward_in(GetParam()), GetParam() == At::kWaiting ? 1 : 8);
  std::vector<std::shared_ptr<RequestTicket>> tickets;
  for (int i = 0; i < 4; ++i) tickets.push_back(held.ask(question(i)));
  ASSERT_TRUE(held.reached.wait());
  std::vector<std::thread> waiters;
  std::atomic<int> n_told{0};
  for (const auto& ticket : tickets) {
    waiters.emplace_back(
        [&] { n_told += ticket->wait().state == RequestState::kCancelled ? 1 : 0; });
  }

  std::thread opener([&] {
    EXPECT_TRUE(held.aborted.wait());
    held.go_on.open();
  });
  held.scheduler.reset();
  opener.join();
  for (std::thread& waiter : waiters) waiter.join();

  EXPECT_EQ(n_told, 4);
  for (const auto& ticket : tickets) {
    ticket->cancel();
    EXPECT_TRUE(ticket->wait_for(std::chrono::milliseconds(0)));
    const std::string error = ticket->wait().error;
    EXPECT_NE(error.find("shut down"), std::string::npos) << error;
  }
}

TEST(SchedulerShutdown, WaitForTellsWhetherTheEndWasReached) {
  Held held(3);
  const auto ticket = held.ask("q");
  ASSERT_TRUE(held.reached.wait());

  EXPECT_FALSE(ticket->wait_for(std::chrono::milliseconds(5)));
  ticket->cancel();
  held.go_on.open();
  EXPECT_TRUE(ticket->wait_for(std::chrono::seconds(60)));
}

TEST(SchedulerShutdown, DoesNotWaitForAForwardThatCanBeAborted) {
  const auto model = make_fake_model();
  model->faults().set_token_delay(std::chrono::hours(1));
  Gate inside;
  model->faults().on_forward([&](int, const Batch&) { inside.open(); });
  auto scheduler = std::make_unique<Scheduler>(model, model->make_context({}), SchedulerOptions{});
  Request request;
  request.suffix = {1, 2, 3};
  const auto ticket = scheduler->submit(request);
  ASSERT_TRUE(inside.wait());

  const auto before = std::chrono::steady_clock::now();
  scheduler.reset();

  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(30));
  EXPECT_EQ(ticket->wait().state, RequestState::kCancelled);
}

TEST(SchedulerShutdown, WhileIdleAndRightAfterSubmitting) {
  const auto model = make_fake_model();
  for (int i = 0; i < 200; ++i) {
    auto scheduler = std::make_unique<Scheduler>(
        model, model->make_context({.n_cells = 100, .n_seq_max = 4, .n_batch = 16}),
        SchedulerOptions{});
    std::shared_ptr<RequestTicket> ticket;
    Request request;
    request.suffix = {1, 2, 3};
    request.max_tokens = 20;
    if (i % 2 == 0) ticket = scheduler->submit(request);
    scheduler.reset();
    if (ticket != nullptr) {
      EXPECT_NE(ticket->wait().state, RequestState::kWaiting);
    }
  }
}

TEST(SchedulerShutdown, AnEngineThatThrowsAnythingEndsNoProcess) {
  const auto model = make_fake_model();
  model->faults().throw_other_at(1, FakeFaults::kForever);
  Scheduler scheduler(model, model->make_context({}), {});
  Request request;
  request.suffix = {1, 2, 3};
  for (int i = 0; i < 5; ++i) {
    const Result result = scheduler.submit(request)->wait();
    EXPECT_EQ(result.error_code, ErrorCode::kEngineFailed) << result.error;
  }
  EXPECT_TRUE(scheduler.stats().engine_failed);
}

TEST(SchedulerShutdown, ATimeoutEndsADecodingRequestByTheRealClock) {
  const auto model = make_fake_model({.eog_every = 0, .forced = {}});
  model->faults().set_token_delay(std::chrono::milliseconds(2));
  Scheduler scheduler(model, model->make_context({}), {});
  Request request;
  request.suffix = {1, 2, 3};
  request.max_tokens = 4000;
  request.timeout = std::chrono::milliseconds(50);

  const Result result = scheduler.submit(request)->wait();

  EXPECT_EQ(result.error_code, ErrorCode::kTimeout);
  EXPECT_FALSE(result.text.empty());
}

}  // namespace
}  // namespace swarmkv::internal
