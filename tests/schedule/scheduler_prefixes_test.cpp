// Offers and wishes through the scheduler's threads: in the order of the calls, from any thread,
// and without anybody waiting for ever.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/fake/fake_engine.h"
#include "handoff/serial_runner.h"
#include "schedule/scheduler.h"

namespace swarmkv::internal {
namespace {

struct Rig {
  std::shared_ptr<const FakeModel> model = make_fake_model();
  std::unique_ptr<Scheduler> scheduler = std::make_unique<Scheduler>(
      model, model->make_context({.n_cells = 2000, .n_seq_max = 16, .n_batch = 64}),
      SchedulerOptions{});

  [[nodiscard]] std::shared_ptr<const Tokens> document(const std::string& text) const {
    return std::make_shared<const Tokens>(model->tokenize(text, SpecialTokens::kPlainText));
  }
  Result ask(std::shared_ptr<const Tokens> document, const std::string& question) const {
    Request request;
    request.label = question;
    request.prefix = std::move(document);
    request.suffix = model->tokenize(question, SpecialTokens::kPlainText);
    request.max_tokens = 8;
    return scheduler->submit(std::move(request))->wait();
  }
  /// The state of a document that was asked about.
  std::shared_ptr<Captured> capture(std::shared_ptr<const Tokens> document) const {
    auto captured = std::make_shared<Captured>();
    const auto ticket = scheduler->capture_later(
        {std::move(document), {}, [captured](Captured c) { *captured = std::move(c); }});
    ticket->settle();
    return captured;
  }
};

const std::string kText(300, 'd');

TEST(SchedulerPrefixes, WhatOneCapturesAnotherTakes) {
  const Rig first, second;
  const auto document = first.document(kText);
  const Result expected = first.ask(document, "why?");
  const auto captured = first.capture(document);
  ASSERT_EQ(captured->reason, "");

  StoredPrefix stored{document, captured->state.bytes, captured, {}, {}};
  {
    const auto offer = second.scheduler->offer(std::move(stored));
    EXPECT_EQ(second.ask(document, "why?").tokens, expected.tokens);
  }
  const SchedulerStats stats = second.scheduler->stats();
  EXPECT_EQ(stats.n_restores, 1);
  EXPECT_EQ(stats.document_tokens_computed, 0);
  EXPECT_EQ(first.scheduler->state_identity(), second.scheduler->state_identity());
}

TEST(SchedulerPrefixes, AnOfferThatWasDroppedIsNotTaken) {
  const Rig first, second;
  const auto document = first.document(kText);
  (void)first.ask(document, "why?");
  const auto captured = first.capture(document);
  (void)second.scheduler->offer({document, captured->state.bytes, captured, {}, {}});
  (void)second.ask(document, "why?");
  EXPECT_EQ(second.scheduler->stats().n_restores, 0);
}

TEST(SchedulerPrefixes, ComeFromManyThreadsAtOnce) {
  const Rig first, second;
  const auto document = first.document(kText);
  const Result expected = first.ask(document, "why?");
  const auto captured = first.capture(document);
  std::atomic<int> n_equal{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 10; ++j) {
        const auto offer =
            second.scheduler->offer({document, captured->state.bytes, captured, {}, {}});
        n_equal += second.ask(document, "why?").tokens == expected.tokens ? 1 : 0;
        const auto again = second.capture(document);
        n_equal += again->state.bytes == captured->state.bytes ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(n_equal, 160);
}

TEST(SchedulerPrefixes, TicketsMayOutliveTheScheduler) {
  Rig rig;
  const auto document = rig.document(kText);
  (void)rig.ask(document, "why?");
  const auto captured = rig.capture(document);
  const auto offer = rig.scheduler->offer({document, captured->state.bytes, captured, {}, {}});
  const auto ticket = rig.scheduler->capture_later({document, {}, [](Captured) {}});
  rig.scheduler.reset();
}

TEST(SchedulerPrefixes, ARunnerWithoutASharedCacheSaysSo) {
  const auto model = make_fake_model();
  SerialRunner runner(
      model, Handoff::kRecompute,
      [&] { return model->make_context({.n_cells = 100, .n_seq_max = 2, .n_batch = 64}); }, {});
  EXPECT_FALSE(runner.takes_stored_prefixes());
  EXPECT_EQ(runner.grid(), 0);
  EXPECT_THROW((void)runner.state_identity(), Error);
  EXPECT_THROW((void)runner.capture_later({}), Error);
  EXPECT_THROW((void)runner.offer({}), Error);
}

}  // namespace
}  // namespace swarmkv::internal
