// What a forward that fails means for whoever had rows in it, and for everybody else.
#include <gtest/gtest.h>

#include <stdexcept>

#include "schedule/scheduler.h"
#include "support/core_harness.h"
#include "support/fork_kinds.h"
#include "support/forwarding_context.h"
#include "support/texts.h"

namespace swarmkv::internal {
namespace {

CoreHarness::Options options_of(ForkKind kind) {
  CoreHarness::Options options;
  options.model.fork_kind = kind;
  options.model.n_swa = kind == ForkKind::kWindow ? 16 : 0;
  options.model.eog_every = 0;
  options.context = {.n_cells = 1000, .n_seq_max = 16, .n_batch = 64};
  return options;
}

struct Waiters {
  explicit Waiters(CoreHarness& h, int n = 3) {
    const auto document = h.document(letters(200, 1));
    for (int i = 0; i < n; ++i) {
      requests.push_back(h.request(document, question(i), 12));
      seen.push_back(h.submit(requests.back()));
    }
  }
  std::vector<Request> requests;
  std::vector<std::shared_ptr<Seen>> seen;
};

class EveryKind : public ::testing::TestWithParam<ForkKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind, every_fork_kind(), fork_kind_name);

TEST_P(EveryKind, APrefillThatFailsHalfWayFailsAllWaitersAndTheNextRunStartsFresh) {
  CoreHarness h(options_of(GetParam()));
  h.model->faults().fail_at(2, ForwardStatus::kFatal, 1, 5);
  const Waiters waiters(h);
  h.run(1000);

  for (const auto& seen : waiters.seen) {
    ASSERT_EQ(seen->n_finished, 1) << "a waiter hangs";
    EXPECT_EQ(seen->result.state, RequestState::kFailed);
    EXPECT_EQ(seen->result.error_code, ErrorCode::kEngineFailed);
    EXPECT_EQ(seen->result.error, waiters.seen[0]->result.error);
  }
  const Waiters next(h);
  h.run(1000);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(next.seen[i]->result.state, RequestState::kFinished) << next.seen[i]->result.error;
    EXPECT_EQ(next.seen[i]->result.tokens, h.alone(next.requests[i]).tokens);
  }
}

TEST_P(EveryKind, AnAbortedOrCrowdedForwardIsRepeatedAndNobodyNotices) {
  for (const ForwardStatus status : {ForwardStatus::kAborted, ForwardStatus::kNoSlot}) {
    for (const int at : {1, 3, 5, 8, 12}) {
      SCOPED_TRACE(::testing::Message()
                   << "status " << static_cast<int>(status) << " at forward " << at);
      CoreHarness h(options_of(GetParam()));
      h.model->faults().fail_at(at, status, 2);
      const Waiters waiters(h);
      h.run(2000);

      for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_EQ(waiters.seen[i]->result.state, RequestState::kFinished)
            << waiters.seen[i]->result.error;
        EXPECT_EQ(waiters.seen[i]->result.tokens, h.alone(waiters.requests[i]).tokens);
        EXPECT_EQ(waiters.seen[i]->text_so_far, waiters.seen[i]->result.text)
            << "text was sent twice";
      }
    }
  }
}

TEST_P(EveryKind, WhateverTheEngineThrowsReachesThoseWhoWaitedAsAnError) {
  struct Case {
    const char* says;
    void (*arm)(FakeFaults&, int);
  };
  const Case cases[] = {
      {"told to throw", [](FakeFaults& f, int k) { f.throw_error_at(k, ErrorCode::kInternal); }},
      {"told to throw", [](FakeFaults& f, int k) { f.throw_std_at(k); }},
      {"unknown exception", [](FakeFaults& f, int k) { f.throw_other_at(k); }},
      {"sample",
       [](FakeFaults& f, int) { f.throw_at_sample(1, [] { throw std::runtime_error("no"); }); }},
      {"sample", [](FakeFaults& f, int) { f.throw_at_sample(1, [] { throw 42; }); }},
  };
  for (const Case& c : cases) {
    CoreHarness h(options_of(GetParam()));
    c.arm(h.model->faults(), 2);
    const Waiters waiters(h);
    ASSERT_NO_THROW(h.run(1000));

    int n_failed = 0;
    for (const auto& seen : waiters.seen) {
      ASSERT_EQ(seen->n_finished, 1);
      if (seen->result.state != RequestState::kFailed) continue;
      ++n_failed;
      EXPECT_EQ(seen->result.error_code, ErrorCode::kEngineFailed);
      EXPECT_NE(seen->result.error.find(c.says), std::string::npos) << seen->result.error;
    }
    EXPECT_GT(n_failed, 0);
    const Waiters next(h, 1);
    h.run(1000);
    EXPECT_EQ(next.seen[0]->result.tokens, h.alone(next.requests[0]).tokens);
  }
}

TEST(EngineFailure, ABatchTheEngineRefusesIsOurBugAndSaysSo) {
  CoreHarness h(options_of(ForkKind::kFull));
  h.model->faults().fail_at(2, ForwardStatus::kBadBatch);
  const Waiters waiters(h);
  h.run(1000);

  for (const auto& seen : waiters.seen) EXPECT_EQ(seen->result.error_code, ErrorCode::kInternal);
}

TEST(EngineFailure, WhoHadNothingInTheForwardGoesOn) {
  CoreHarness h(options_of(ForkKind::kRecurrent));  // its forwards hold one sequence at a time here
  const Request steady = h.request(nullptr, "steady", 30);
  const auto bystander = h.submit(steady);
  while (bystander->n_first == 0) h.step();
  const auto victim = h.submit(h.request(h.document(letters(200, 1)), question(1)));
  h.model->faults().on_forward([&](int k, const Batch& batch) {
    if (batch.size() > 1) h.model->faults().fail_at(k, ForwardStatus::kFatal);
  });
  h.run(1000);

  EXPECT_EQ(victim->result.error_code, ErrorCode::kEngineFailed);
  EXPECT_EQ(bystander->result.state, RequestState::kFinished) << bystander->result.error;
  EXPECT_EQ(bystander->result.tokens, h.alone(steady).tokens);
}

TEST(EngineFailure, ThreeFatalForwardsInARowEndTheEngine) {
  CoreHarness::Options options = options_of(ForkKind::kFull);
  options.scheduler.n_parallel = 1;
  CoreHarness h(options);
  h.model->faults().fail_at(1, ForwardStatus::kFatal, FakeFaults::kForever);
  const Waiters waiters(h, 5);
  h.run(1000);

  EXPECT_EQ(h.context->n_forwards(), 3);
  EXPECT_TRUE(h.core->stats().engine_failed);
  for (const auto& seen : waiters.seen)
    EXPECT_EQ(seen->result.error_code, ErrorCode::kEngineFailed);

  h.model->faults().clear();
  const Waiters late(h, 1);
  EXPECT_EQ(late.seen[0]->result.error_code, ErrorCode::kEngineFailed) << "refused at once";
  EXPECT_TRUE(h.core->idle());
}

// Its forwards fail from the third on, and then every other call throws, too.
class DyingContext final : public ForwardingContext {
 public:
  explicit DyingContext(std::unique_ptr<Context> inner) : ForwardingContext(std::move(inner)) {}

  ForwardStatus forward(const Batch& batch) override {
    if (++n_forwards_ >= 3) dead_ = true;
    check_alive();
    return inner().forward(batch);
  }
  bool can_fork(SeqId source, Pos end) const override {
    check_alive();
    return inner().can_fork(source, end);
  }
  void release(SeqId seq) override {
    check_alive();
    inner().release(seq);
  }
  bool truncate(SeqId seq, Pos from) override {
    check_alive();
    return inner().truncate(seq, from);
  }
  Pos length(SeqId seq) const override {
    check_alive();
    return inner().length(seq);
  }
  void clear() override {
    check_alive();
    inner().clear();
  }

 private:
  void check_alive() const {
    if (dead_) throw std::runtime_error("the device is gone");
  }
  int n_forwards_ = 0;
  bool dead_ = false;
};

TEST(EngineFailure, AContextThatThrowsAtEveryCallEndsNothingButItself) {
  const auto model = make_fake_model();
  Scheduler scheduler(model,
                      std::make_unique<DyingContext>(
                          model->make_context({.n_cells = 1000, .n_seq_max = 16, .n_batch = 64})),
                      {});
  const auto document =
      std::make_shared<const Tokens>(model->tokenize(letters(200, 1), SpecialTokens::kPlainText));
  std::vector<std::shared_ptr<RequestTicket>> tickets;
  for (int i = 0; i < 4; ++i) {
    Request request;
    request.prefix = document;
    request.suffix = model->tokenize(question(i), SpecialTokens::kPlainText);
    tickets.push_back(scheduler.submit(std::move(request)));
  }
  for (const auto& ticket : tickets) {
    const Result result = ticket->wait();
    EXPECT_EQ(result.state, RequestState::kFailed);
    EXPECT_EQ(result.error_code, ErrorCode::kEngineFailed);
    const bool says_why = result.error.find("the device is gone") != std::string::npos;
    // Those that came too late hear only that it is over.
    EXPECT_TRUE(says_why || ticket != tickets[0]) << result.error;
  }
  EXPECT_TRUE(scheduler.stats().engine_failed);
  EXPECT_EQ(scheduler.stats().used_cells, 0);
}

TEST(EngineFailure, FatalForwardsWithSuccessBetweenThemDoNotEndTheEngine) {
  CoreHarness::Options options = options_of(ForkKind::kFull);
  options.scheduler.n_parallel = 1;
  CoreHarness h(options);
  h.model->faults().fail_at(1, ForwardStatus::kFatal, 2);
  h.model->faults().fail_at(4, ForwardStatus::kFatal, 2);
  const Waiters waiters(h, 5);
  h.run(1000);

  EXPECT_FALSE(h.core->stats().engine_failed);
  EXPECT_EQ(waiters.seen[4]->result.state, RequestState::kFinished)
      << waiters.seen[4]->result.error;
}

}  // namespace
}  // namespace swarmkv::internal
