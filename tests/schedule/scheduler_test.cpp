// The scheduler's threads: many clients, one engine thread, one event thread.
#include "schedule/scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <stdexcept>
#include <thread>

#include "engine/fake/fake_engine.h"
#include "support/texts.h"

namespace swarmkv::internal {
namespace {

std::unique_ptr<Scheduler> make_scheduler(const std::shared_ptr<const FakeModel>& model,
                                          SchedulerOptions options = {}, int n_cells = 4000) {
  return std::make_unique<Scheduler>(
      model, model->make_context({.n_cells = n_cells, .n_seq_max = 32, .n_batch = 64}), options);
}

Request ask(const FakeModel& model, std::shared_ptr<const Tokens> document, const std::string& text,
            int max_tokens = 8) {
  Request request;
  request.label = text;
  request.prefix = std::move(document);
  request.suffix = model.tokenize(text, SpecialTokens::kPlainText);
  request.max_tokens = max_tokens;
  return request;
}

std::shared_ptr<const Tokens> document_of(const FakeModel& model, int n) {
  return std::make_shared<const Tokens>(model.tokenize(letters(n, 1), SpecialTokens::kPlainText));
}

// What is heard, and on which thread.
class Ears final : public RequestListener {
 public:
  void on_admitted(TimePoint) override { say("admitted"); }
  void on_prefix_progress(const PrefixProgress& p) override {
    EXPECT_GT(p.n_computed, n_computed) << "progress never repeats";
    n_computed = p.n_computed;
    say(n_computed == p.n_total ? "prefix ready" : "prefix");
  }
  void on_first_token(TimePoint) override { say("first token"); }
  void on_text(std::string_view delta, int) override {
    text += delta;
    say("text");
    if (on_text_do) on_text_do();
  }
  void on_finished(const Result& r) override {
    say("finished");
    result = r;
    if (on_finished_do) on_finished_do();
  }

  std::string text;
  std::vector<std::string> heard;
  std::vector<std::thread::id> threads;
  Result result;
  int n_computed = -1;
  std::function<void()> on_text_do, on_finished_do;

 private:
  void say(const char* what) {
    if (heard.empty() || heard.back() != what) heard.push_back(what);
    threads.push_back(std::this_thread::get_id());
  }
};

TEST(Scheduler, WhatIsGatheredBeginsWhenItIsComplete) {
  const auto model = make_fake_model();
  const auto scheduler = make_scheduler(model);
  const auto document = document_of(*model, 20);
  auto outer = scheduler->gather();
  auto inner = scheduler->gather();
  const auto first = scheduler->submit(ask(*model, document, "first"));
  const auto second = scheduler->submit(ask(*model, document, "never"));
  second->cancel();
  EXPECT_EQ(scheduler->stats().counters.n_forwards, 0u) << "others are answered meanwhile";
  inner.reset();
  EXPECT_EQ(scheduler->stats().counters.n_forwards, 0u) << "somebody still gathers";
  outer.reset();

  EXPECT_EQ(first->wait().state, RequestState::kFinished);
  EXPECT_EQ(second->wait().state, RequestState::kCancelled);
}

// A scheduler that goes away does not wait for the rest.
TEST(Scheduler, EndsWhileSomebodyGathers) {
  const auto model = make_fake_model();
  auto scheduler = make_scheduler(model);
  const auto gathering = scheduler->gather();
  const auto ticket = scheduler->submit(ask(*model, document_of(*model, 20), "first"));
  scheduler.reset();
  EXPECT_EQ(ticket->wait().state, RequestState::kCancelled);
}

TEST(Scheduler, TakesRequestsFromEightThreadsAndAnswersEachAsAlone) {
  const auto model = make_fake_model();
  const auto document = document_of(*model, 200);
  const auto answer_of = [&](const std::string& text) {
    const auto lone = make_scheduler(model);
    return lone->submit(ask(*model, document, text))->wait().text;
  };
  std::map<std::string, std::string> expected;
  for (int i = 0; i < 10; ++i) expected[question(i)] = answer_of(question(i));
  const auto scheduler = make_scheduler(model);
  std::atomic<int> n_right{0};

  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < 20; ++i) {
        const std::string text = question((i + c) % 10);
        const auto ears = std::make_shared<Ears>();
        const auto ticket = scheduler->submit(ask(*model, document, text), ears);
        if (i % 7 == 6) {
          ticket->cancel();
          (void)ticket->wait();
          continue;
        }
        const Result result = ticket->wait();
        n_right += result.text == expected[text] && ears->text == result.text ? 1 : 0;
        if (i % 5 == 0) (void)scheduler->stats();
      }
    });
  }
  for (std::thread& client : clients) client.join();

  EXPECT_EQ(n_right, 8 * 18);
  EXPECT_EQ(scheduler->stats().prefix_tokens_computed, 200);
}

TEST(Scheduler, TellsEverythingInOrderOnOneThreadThatIsNotTheEngines) {
  const auto model = make_fake_model();
  std::thread::id engine_thread;
  model->faults().on_forward(
      [&](int, const Batch&) { engine_thread = std::this_thread::get_id(); });
  const auto ears = std::make_shared<Ears>();
  {
    const auto scheduler = make_scheduler(model);
    const Result result =
        scheduler->submit(ask(*model, document_of(*model, 300), "q", 30), ears)->wait();

    EXPECT_EQ(ears->text, result.text);
    EXPECT_EQ(ears->result.tokens, result.tokens) << "on_finished came before wait() returned";
  }
  for (const std::thread::id thread : ears->threads) {
    EXPECT_EQ(thread, ears->threads[0]);
    EXPECT_NE(thread, engine_thread);
    EXPECT_NE(thread, std::this_thread::get_id());
  }
  // What comes quickly may be merged, so steps may be missing, but they never change places.
  const std::vector<std::string> order = {"admitted",    "prefix", "prefix ready",
                                          "first token", "text",   "finished"};
  std::size_t at = 0;
  for (const std::string& what : ears->heard) {
    while (at < order.size() && order[at] != what) ++at;
    ASSERT_LT(at, order.size()) << what << " came late";
  }
  EXPECT_EQ(ears->heard.back(), "finished");
}

TEST(Scheduler, AListenerThatThrowsIsLeftAloneAndItsRequestGoesOn) {
  const auto model = make_fake_model();
  const auto scheduler = make_scheduler(model);
  const auto document = document_of(*model, 100);
  const Request request = ask(*model, document, "q", 30);
  const std::string expected = scheduler->submit(request)->wait().text;
  for (const bool standard : {true, false}) {
    const auto ears = std::make_shared<Ears>();
    ears->on_text_do = [&] {
      if (standard) throw std::runtime_error("no");
      throw 42;
    };
    const Result result = scheduler->submit(request, ears)->wait();

    EXPECT_EQ(result.state, RequestState::kFinished);
    EXPECT_EQ(result.text, expected);
    EXPECT_EQ(ears->heard.back(), "text") << "it is not called again";
  }
}

TEST(Scheduler, AListenerMayCallTheScheduler) {
  const auto model = make_fake_model();
  const auto scheduler = make_scheduler(model);
  const auto ears = std::make_shared<Ears>();
  std::shared_ptr<RequestTicket> second;
  ears->on_text_do = [&] {
    if (second == nullptr) second = scheduler->submit(ask(*model, nullptr, "another"));
    (void)scheduler->stats();
  };
  (void)scheduler->submit(ask(*model, nullptr, "one"), ears)->wait();

  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->wait().state, RequestState::kFinished);
}

TEST(Scheduler, ARequestWhoseTicketIsDroppedRunsToItsEnd) {
  const auto model = make_fake_model();
  const auto scheduler = make_scheduler(model);
  const auto ears = std::make_shared<Ears>();
  std::promise<void> told;
  ears->on_finished_do = [&] { told.set_value(); };

  (void)scheduler->submit(ask(*model, nullptr, "q"), ears);

  told.get_future().wait();
  EXPECT_EQ(ears->result.state, RequestState::kFinished);
}

}  // namespace
}  // namespace swarmkv::internal
