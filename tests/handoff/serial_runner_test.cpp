// The arms that run agents one after another: what they compute, what they answer, how they end.
#include "handoff/serial_runner.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "engine/fake/fake_engine.h"
#include "support/core_harness.h"
#include "support/pipelines.h"
#include "support/texts.h"

namespace swarmkv::internal {
namespace {

using swarmkv::testing::Gate;

struct Rig {
  explicit Rig(Handoff handoff, FakeOptions options = {}, SerialOptions serial = {},
               ContextOptions context = {.n_cells = 600, .n_seq_max = 2, .n_batch = 64})
      : model(make_fake_model(options)) {
    model->faults().set_verify(true);
    runner = std::make_unique<SerialRunner>(
        model, handoff, [m = model, context] { return m->make_context(context); }, serial);
  }

  [[nodiscard]] std::shared_ptr<const Tokens> document(const std::string& text) const {
    return std::make_shared<const Tokens>(model->tokenize(text, SpecialTokens::kPlainText));
  }
  [[nodiscard]] Request ask(std::shared_ptr<const Tokens> prefix, const std::string& suffix,
                            int max_tokens = 8) const {
    Request r;
    r.label = suffix;
    r.prefix = std::move(prefix);
    r.suffix = model->tokenize(suffix, SpecialTokens::kPlainText);
    r.max_tokens = max_tokens;
    return r;
  }
  /// What the request answers in a context that nobody else ever used.
  [[nodiscard]] Result alone(const Request& request) const {
    CoreHarness::Options options;
    options.model = model->options();
    return CoreHarness(options).alone(request);
  }

  std::shared_ptr<const FakeModel> model;
  std::unique_ptr<SerialRunner> runner;
};

std::string name_of(const ::testing::TestParamInfo<Handoff>& info) {
  std::string name(to_string(info.param));
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

class SerialArms : public ::testing::TestWithParam<Handoff> {
 protected:
  [[nodiscard]] bool recomputes() const { return GetParam() == Handoff::kRecompute; }
};
INSTANTIATE_TEST_SUITE_P(Arms, SerialArms,
                         ::testing::Values(Handoff::kRecompute, Handoff::kSnapshot,
                                           Handoff::kDevice),
                         name_of);

TEST_P(SerialArms, AnswersAsALoneRunAndCountsWhatItComputed) {
  for (const ForkKind kind : {ForkKind::kFull, ForkKind::kWindow, ForkKind::kRecurrent}) {
    FakeOptions options;
    options.fork_kind = kind;
    options.n_swa = kind == ForkKind::kWindow ? 20 : 0;
    Rig rig(GetParam(), options);
    const auto document = rig.document(letters(150, 3));
    std::vector<Request> requests;
    std::vector<std::shared_ptr<RequestTicket>> tickets;
    std::int64_t n_suffixes = 0;
    for (int i = 0; i < 5; ++i) {
      requests.push_back(rig.ask(document, question(i), 4 + 3 * i));
      n_suffixes += static_cast<std::int64_t>(requests.back().suffix.size());
      tickets.push_back(rig.runner->submit(requests.back()));
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Result result = tickets[i]->wait();
      const Result expected = rig.alone(requests[i]);
      ASSERT_EQ(result.state, RequestState::kFinished) << result.error;
      EXPECT_EQ(result.tokens, expected.tokens);
      EXPECT_EQ(result.text, expected.text);
      EXPECT_EQ(result.n_cached_tokens, recomputes() ? 0 : 150);
      EXPECT_EQ(result.n_computed_tokens,
                static_cast<int>(requests[i].suffix.size()) + (recomputes() ? 150 : 0));
    }
    const SchedulerStats stats = rig.runner->stats();
    EXPECT_EQ(stats.prompt_tokens_computed, (recomputes() ? 5 * 150 : 150) + n_suffixes);
    EXPECT_EQ(stats.prefix_tokens_computed, recomputes() ? 0 : 150);
    EXPECT_EQ(stats.counters.n_forks, recomputes() ? 0U : 5U);
    if (kind != ForkKind::kRecurrent) {  // whose states the fake does not weigh
      EXPECT_GT(stats.peak_kv_bytes, 0U);
    }
  }
}

TEST_P(SerialArms, PrefillOnlyStopStringsAndPromptsWithoutSuffix) {
  FakeOptions options;
  options.forced = {{"stop here", "one two three four"}};
  Rig rig(GetParam(), options);
  const auto document = rig.document("<|user|>the document");
  Request nothing = rig.ask(document, "x", 0);
  const Result prefilled = rig.runner->submit(nothing)->wait();
  EXPECT_EQ(prefilled.state, RequestState::kFinished);
  EXPECT_EQ(prefilled.finish_reason, FinishReason::kLength);
  EXPECT_TRUE(prefilled.tokens.empty());

  Request bare = rig.ask(document, "", 6);
  bare.ignore_eos = true;
  const Result result = rig.runner->submit(bare)->wait();
  EXPECT_EQ(result.tokens, rig.alone(bare).tokens);
  EXPECT_EQ(result.finish_reason, FinishReason::kLength);
  EXPECT_EQ(result.n_computed_tokens, recomputes() ? static_cast<int>(document->size()) : 1);

  Request alone;  // no prefix at all
  alone.suffix = rig.model->tokenize("hello", SpecialTokens::kPlainText);
  alone.max_tokens = 30;
  alone.ignore_eos = true;
  const Result free = rig.runner->submit(alone)->wait();
  ASSERT_GT(free.text.size(), 6U);
  EXPECT_EQ(free.tokens, rig.alone(alone).tokens);
  alone.stop = {free.text.substr(3, 2)};
  const Result stopped = rig.runner->submit(alone)->wait();
  EXPECT_EQ(stopped.finish_reason, FinishReason::kStop);
  EXPECT_EQ(stopped.stop_string, alone.stop[0]);
  EXPECT_EQ(stopped.text, free.text.substr(0, free.text.find(alone.stop[0])));
}

TEST_P(SerialArms, AnotherDocumentIsComputedAndTheFirstOneAgainWhenItComesBack) {
  Rig rig(GetParam());
  const auto one = rig.document(letters(60, 1)), two = rig.document(letters(70, 2));
  for (const auto& document : {one, one, two, one}) {
    const Request request = rig.ask(document, "why?");
    EXPECT_EQ(rig.runner->submit(request)->wait().tokens, rig.alone(request).tokens);
  }
  EXPECT_EQ(rig.runner->stats().document_tokens_computed, recomputes() ? 250 : 190);
}

TEST_P(SerialArms, ListenersHearTheSameAsFromTheScheduler) {
  struct Ears final : RequestListener {
    std::vector<std::string> heard;
    std::string text;
    void on_admitted(TimePoint) override { heard.push_back("admitted"); }
    void on_prefix_progress(const PrefixProgress& p) override {
      EXPECT_LE(p.n_computed, p.n_total);
      if (p.n_computed == p.n_total) heard.push_back("prefix ready");
    }
    void on_first_token(TimePoint) override { heard.push_back("first token"); }
    void on_text(std::string_view delta, int) override { text += delta; }
    void on_finished(const Result& r) override {
      EXPECT_EQ(r.text, text);
      heard.push_back("finished");
    }
  };
  Rig rig(GetParam());
  const auto document = rig.document(letters(100, 1));
  for (int i = 0; i < 2; ++i) {
    const auto ears = std::make_shared<Ears>();
    Request request = rig.ask(document, "why?", 6);
    request.ignore_eos = true;
    const Result result = rig.runner->submit(request, ears)->wait();
    EXPECT_EQ(ears->heard,
              (std::vector<std::string>{"admitted", "prefix ready", "first token", "finished"}));
    EXPECT_LE(*result.enqueued, *result.admitted);
    EXPECT_LE(*result.admitted, *result.prefix_ready);
    EXPECT_LE(*result.prefix_ready, *result.handed_over);
    EXPECT_LE(*result.handed_over, *result.first_token);
    EXPECT_LE(*result.first_token, *result.finished);
  }
}

TEST_P(SerialArms, RefusesWhatTheSchedulerRefuses) {
  Rig rig(GetParam());
  const auto code_of = [&](const Request& request) {
    try {
      (void)rig.runner->submit(request);
    } catch (const Error& e) {
      return e.code();
    }
    return ErrorCode::kInternal;
  };
  EXPECT_EQ(code_of({}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(rig.ask(rig.document(letters(590, 1)), "too long", 100)),
            ErrorCode::kDoesNotFit);
  Request hot = rig.ask(nullptr, "x");
  hot.sampling.temperature = -1;
  EXPECT_EQ(code_of(hot), ErrorCode::kInvalidArgument);
}

TEST_P(SerialArms, CancelsTheRunningOneAndTheWaitingOneAndGoesOn) {
  Rig rig(GetParam(), {.eog_every = 0, .forced = {}}, {},
          {.n_cells = 5000, .n_seq_max = 2, .n_batch = 64});
  Gate running;
  std::atomic<int> n_forwards{0};
  rig.model->faults().on_forward([&](int, const Batch&) {
    if (++n_forwards == 6) running.open();
    if (n_forwards >= 6) std::this_thread::sleep_for(std::chrono::microseconds(200));
  });
  const auto document = rig.document(letters(100, 1));
  const auto first = rig.runner->submit(rig.ask(document, "one", 4000));
  const auto second = rig.runner->submit(rig.ask(document, "two", 4000));
  const auto third = rig.runner->submit(rig.ask(document, "three", 4));
  ASSERT_TRUE(running.wait());
  second->cancel();
  first->cancel();
  EXPECT_EQ(first->wait().state, RequestState::kCancelled);
  EXPECT_EQ(second->wait().state, RequestState::kCancelled);
  EXPECT_FALSE(second->wait().admitted.has_value());
  EXPECT_EQ(third->wait().tokens, rig.alone(rig.ask(document, "three", 4)).tokens);
}

TEST_P(SerialArms, TimeLimitsHoldForTheRunningOneAndForThoseThatWait) {
  Rig rig(GetParam(), {.eog_every = 0, .forced = {}}, {},
          {.n_cells = 60000, .n_seq_max = 2, .n_batch = 64});
  rig.model->faults().set_verify(false);
  rig.model->faults().set_token_delay(std::chrono::microseconds(500));
  Request slow = rig.ask(rig.document("doc"), "one", 50000);
  slow.timeout = std::chrono::milliseconds(50);
  Request waiting = slow;
  waiting.timeout = std::chrono::milliseconds(20);
  const auto first = rig.runner->submit(slow);
  const auto second = rig.runner->submit(waiting);
  for (const Result& result : {first->wait(), second->wait()}) {
    EXPECT_EQ(result.state, RequestState::kFailed);
    EXPECT_EQ(result.error_code, ErrorCode::kTimeout);
    EXPECT_NE(result.error.find("ran out of time"), std::string::npos) << result.error;
  }
  EXPECT_FALSE(second->wait().admitted.has_value());
}

TEST_P(SerialArms, IsTornDownInTheMiddleOfWork) {
  Rig rig(GetParam(), {.eog_every = 0, .forced = {}}, {},
          {.n_cells = 60000, .n_seq_max = 2, .n_batch = 64});
  rig.model->faults().set_verify(false);
  Gate running;
  rig.model->faults().on_forward([&](int, const Batch&) { running.open(); });
  rig.model->faults().set_token_delay(std::chrono::seconds(20));  // abort() ends it early
  const auto document = rig.document(letters(100, 1));
  const auto first = rig.runner->submit(rig.ask(document, "one", 50000));
  const auto second = rig.runner->submit(rig.ask(document, "two", 50000));
  ASSERT_TRUE(running.wait());
  rig.runner.reset();
  EXPECT_EQ(first->wait().state, RequestState::kCancelled);
  EXPECT_EQ(second->wait().state, RequestState::kCancelled);
}

// How each failure of an engine ends, and that the next request is as right as ever.
TEST_P(SerialArms, AFailedForwardCostsItsRequestOnly) {
  struct Case {
    ForwardStatus status;
    ErrorCode code;
  };
  for (const Case c : {Case{ForwardStatus::kNoSlot, ErrorCode::kKvCacheFull},
                       Case{ForwardStatus::kBadBatch, ErrorCode::kInternal},
                       Case{ForwardStatus::kAborted, ErrorCode::kEngineFailed},
                       Case{ForwardStatus::kFatal, ErrorCode::kEngineFailed}}) {
    for (int k = 1; k <= 5; ++k) {  // in the prefix, the suffix, and while decoding
      Rig rig(GetParam());
      const auto document = rig.document(letters(100, 1));
      std::atomic<int> n{0};
      rig.model->faults().on_forward([&](int forward, const Batch&) {
        if (++n == k) rig.model->faults().fail_at(forward, c.status);
      });
      Request request = rig.ask(document, "why?", 8);
      request.ignore_eos = true;
      const Result failed = rig.runner->submit(request)->wait();
      EXPECT_EQ(failed.state, RequestState::kFailed);
      EXPECT_EQ(failed.error_code, c.code) << failed.error;
      rig.model->faults().clear();
      const Result result = rig.runner->submit(request)->wait();
      EXPECT_EQ(result.tokens, rig.alone(request).tokens) << result.error;
    }
  }
}

TEST_P(SerialArms, ThreeEngineFailuresInARowEndIt) {
  Rig rig(GetParam());
  rig.model->faults().throw_std_at(1, FakeFaults::kForever);
  std::vector<std::shared_ptr<RequestTicket>> tickets;
  for (int i = 0; i < 5; ++i) tickets.push_back(rig.runner->submit(rig.ask(nullptr, "why?")));
  for (const auto& ticket : tickets) {
    EXPECT_EQ(ticket->wait().error_code, ErrorCode::kEngineFailed);
  }
  EXPECT_TRUE(rig.runner->stats().engine_failed);
  rig.model->faults().clear();
  EXPECT_EQ(rig.runner->submit(rig.ask(nullptr, "why?"))->wait().error_code,
            ErrorCode::kEngineFailed);
}

TEST_P(SerialArms, AContextThatCannotBeMadeIsAnErrorOfItsRequest) {
  Rig rig(GetParam());
  const Request request = rig.ask(rig.document("doc"), "why?");
  rig.model->faults().refuse_contexts(ErrorCode::kDoesNotFit);
  EXPECT_THROW(SerialRunner(rig.model, GetParam(),
                            [m = rig.model] { return m->make_context({.n_cells = 100}); }, {}),
               Error);
  if (GetParam() == Handoff::kDevice) return;  // needs no second one
  Result second = rig.runner->submit(request)->wait();
  if (recomputes()) second = rig.runner->submit(request)->wait();  // the first had a context
  EXPECT_EQ(second.error_code, ErrorCode::kDoesNotFit) << second.error;
  rig.model->faults().clear();
  EXPECT_EQ(rig.runner->submit(request)->wait().tokens, rig.alone(request).tokens);
}

class CopyingArms : public SerialArms {};
INSTANTIATE_TEST_SUITE_P(Arms, CopyingArms, ::testing::Values(Handoff::kSnapshot, Handoff::kDevice),
                         name_of);

TEST_P(CopyingArms, AShortSaveOrRestoreIsACleanErrorWithBothNumbers) {
  for (const std::size_t n_bytes : {std::size_t{0}, std::size_t{7}, std::size_t{150}}) {
    for (const bool at_save : {true, false}) {
      Rig rig(GetParam());
      const auto document = rig.document(letters(100, 1));
      const std::string whole = std::to_string(8 + 3 * 4 + 100 * 4);
      if (at_save) {
        rig.model->faults().short_save_at(1, n_bytes);
      } else {
        rig.model->faults().short_load_at(2, n_bytes);
      }
      std::vector<Result> results;
      for (int i = 0; i < 3; ++i) {
        results.push_back(rig.runner->submit(rig.ask(document, question(i)))->wait());
      }
      const Result& failed = results[at_save ? 0 : 1];
      EXPECT_EQ(failed.state, RequestState::kFailed);
      EXPECT_EQ(failed.error_code, at_save ? ErrorCode::kEngineFailed : ErrorCode::kCorrupt);
      EXPECT_NE(failed.error.find(whole), std::string::npos) << failed.error;
      EXPECT_TRUE(failed.tokens.empty());
      for (int i = 0; i < 3; ++i) {
        if (&results[static_cast<std::size_t>(i)] == &failed) continue;
        EXPECT_EQ(results[static_cast<std::size_t>(i)].tokens,
                  rig.alone(rig.ask(document, question(i))).tokens);
      }
    }
  }
}

TEST(DeviceArm, SaysWhereThereIsNoDevice) {
  Rig rig(Handoff::kDevice);
  rig.model->faults().set_no_device(true);
  const Result result = rig.runner->submit(rig.ask(rig.document("doc"), "why?"))->wait();
  EXPECT_EQ(result.error_code, ErrorCode::kUnsupported) << result.error;
}

TEST(DeviceArm, HoldsTheDocumentOnceInItsPool) {
  Rig rig(Handoff::kDevice, {}, {}, {.n_cells = 130, .n_seq_max = 2, .n_batch = 64});
  const auto document = rig.document(letters(100, 1));
  for (int i = 0; i < 3; ++i) {
    const Request request = rig.ask(document, question(i), 8);
    EXPECT_EQ(rig.runner->submit(request)->wait().tokens, rig.alone(request).tokens);
  }
}

TEST(SnapshotArm, GivesEveryAgentAContextThatNobodyUsed) {
  Rig rig(Handoff::kSnapshot);
  std::vector<std::int64_t> n_before;
  std::vector<FakeContext*> contexts;
  rig.model->faults().on_context([&](FakeContext& context) {
    EXPECT_EQ(context.n_used_cells(), 0);
    contexts.push_back(&context);
  });
  const auto document = rig.document(letters(100, 1));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rig.runner->submit(rig.ask(document, question(i)))->wait().state,
              RequestState::kFinished);
  }
  EXPECT_EQ(contexts.size(), 3U);  // the first of all computed the document
}

TEST(Arms, HaveNamesAndNoOthers) {
  for (const std::string& name : handoff_names()) {
    EXPECT_EQ(to_string(handoff_named(name)), name);
  }
  EXPECT_THROW((void)handoff_named("copy"), Error);
  const auto model = make_fake_model();
  EXPECT_THROW((void)make_arm(Handoff::kShared, [&] { return model->make_context({}); }), Error);
}

}  // namespace
}  // namespace swarmkv::internal
