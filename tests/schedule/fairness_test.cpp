// Whose turn it is: priority, waiting, and decoding beside a long prefill.
#include <gtest/gtest.h>

#include "support/core_harness.h"
#include "support/texts.h"

namespace swarmkv::internal {
namespace {

CoreHarness::Options one_at_a_time() {
  CoreHarness::Options options;
  options.model.eog_every = 0;
  options.scheduler.n_parallel = 1;
  return options;
}

TEST(Fairness, HigherPriorityRunsFirstAndEqualsInTheOrderOfSubmission) {
  CoreHarness h(one_at_a_time());
  const int priorities[] = {0, -1, 5, 0, 5};
  std::vector<std::shared_ptr<Seen>> seen;
  for (const int priority : priorities) {
    Request request = h.request(nullptr, "same question", 3);
    request.priority = priority;
    seen.push_back(h.submit(request));
  }
  h.run();

  const std::size_t order[] = {2, 4, 0, 3, 1};
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_LT(*seen[order[i - 1]]->result.finished, *seen[order[i]]->result.finished);
  }
}

// More urgent requests keep coming; one step of priority is worth 256 steps of waiting.
TEST(Fairness, ALowPriorityIsNotStarvedByAStreamOfHigherOnes) {
  for (const int lower_by : {1, 2}) {
    CoreHarness h(one_at_a_time());
    Request low = h.request(nullptr, "low", 1);
    low.priority = -lower_by;
    std::shared_ptr<Seen> patient;
    std::vector<std::shared_ptr<Seen>> stream;
    int n_steps = 0, waited = 0;
    for (; n_steps < 1500 && waited == 0; ++n_steps) {
      stream.push_back(h.submit(h.request(nullptr, "high", 1)));
      stream.push_back(h.submit(h.request(nullptr, "high", 1)));
      if (n_steps == 0) patient = h.submit(low);
      h.step();
      if (patient->done()) waited = n_steps;
    }

    // Two come a step and one goes, so those that outrank it take about as many steps again.
    EXPECT_GT(waited, 256 * lower_by) << "priority means something";
    EXPECT_LT(waited, 2 * 256 * lower_by + 16) << "but not for ever";
    h.core->cancel_all("done");
  }
}

//  running: 150 of 300 cells   head: wants 250   behind it: small ones that fit
TEST(Fairness, SmallRequestsPassABlockedHeadForAWhileOnly) {
  CoreHarness::Options options;
  options.model.eog_every = 0;
  options.context = {.n_cells = 300, .n_seq_max = 16, .n_batch = 300};
  CoreHarness h(options);
  const auto running = h.submit(h.request(nullptr, letters(10, 1), 141));
  h.step();
  const auto head = h.submit(h.request(nullptr, letters(250, 2), 1));
  int last_passing = 0, n_passed = 0, head_starts = 0;
  for (int step = 1; head_starts == 0; ++step) {
    ASSERT_LT(step, 1000);
    const auto small =
        h.submit(h.request(nullptr, letters(10, 100u + static_cast<unsigned>(step)), 2));
    h.step();
    if (head->n_admitted > 0) {
      head_starts = step;
      ASSERT_TRUE(running->done());
    } else if (small->n_admitted > 0) {
      last_passing = step;
      ++n_passed;
    }
  }

  EXPECT_GT(n_passed, 10) << "a head that does not fit does not idle the pool";
  EXPECT_LE(last_passing, 66);
  EXPECT_GT(head_starts, 100) << "the test wants a head that waits longer than it may be passed";
  h.core->cancel_all("done");
}

//  a stream of small requests fills all places of the batch; the head needs most of the cells
TEST(Fairness, AFullBatchDoesNotResetTheTimeABlockedHeadMayBePassed) {
  CoreHarness::Options options;
  options.model.eog_every = 0;
  options.context = {.n_cells = 300, .n_seq_max = 16, .n_batch = 300};
  options.scheduler.n_parallel = 4;
  CoreHarness h(options);
  std::shared_ptr<Seen> head;
  int n_waited = 0;
  for (int step = 0; step < 400 && (head == nullptr || head->n_admitted == 0); ++step) {
    h.submit(h.request(nullptr, letters(30, 100u + static_cast<unsigned>(step)), 10));
    if (step == 6) head = h.submit(h.request(nullptr, letters(250, 2), 1));
    if (step == 7) {
      ASSERT_EQ(head->n_admitted, 0) << "the test wants a head that does not fit";
    }
    h.step();
    n_waited += head != nullptr ? 1 : 0;
  }

  EXPECT_EQ(head->n_admitted, 1) << "it is passed for ever";
  EXPECT_LE(n_waited, 64 + 30);
  h.core->cancel_all("done");
}

//  streaming:  t t t t t t t t t t ...     a token in every step
//  documents:  [--------------------------- prefill ---------------------------]
TEST(Fairness, ALongPrefillDoesNotStopTheStreamOfOthers) {
  CoreHarness::Options options;
  options.model.eog_every = 0;
  options.context = {.n_cells = 8000, .n_seq_max = 32, .n_batch = 64};
  CoreHarness h(options);
  const auto streaming = h.submit(h.request(nullptr, "go", 150));
  while (streaming->n_first == 0) h.step();
  std::vector<std::shared_ptr<Seen>> readers;
  for (int i = 0; i < 20; ++i) {
    readers.push_back(
        h.submit(h.request(h.document(letters(300, 10u + static_cast<unsigned>(i))), "q", 2)));
  }
  h.run();

  const auto& times = streaming->result.token_times;
  ASSERT_EQ(times.size(), 150u);
  for (std::size_t i = 1; i < times.size(); ++i) {
    ASSERT_EQ(times[i] - times[i - 1], std::chrono::milliseconds(1))
        << "token " << i << " came late";
  }
  EXPECT_LT(*readers[5]->result.finished, *streaming->result.finished)
      << "prefill goes on beside it";
}

TEST(Fairness, ShortRequestsDoNotWaitForTheEndOfALongDocument) {
  CoreHarness::Options options;
  options.context = {.n_cells = 8000, .n_seq_max = 32, .n_batch = 64};
  CoreHarness h(options);
  const auto slow = h.submit(h.request(h.document(letters(5000, 1)), "q", 2));
  h.step();
  std::vector<std::shared_ptr<Seen>> quick;
  for (int i = 0; i < 10; ++i) quick.push_back(h.submit(h.request(nullptr, question(i), 3)));
  h.run();

  for (const auto& q : quick) EXPECT_LT(*q->result.finished, *slow->result.first_token);
}

TEST(Fairness, TimeoutsEndAWaitingAPrefillingAndADecodingRequest) {
  CoreHarness::Options options = one_at_a_time();
  options.context = {.n_cells = 4000, .n_seq_max = 16, .n_batch = 64};
  options.scheduler.n_parallel = 2;
  CoreHarness h(options);
  const auto timed = [](Request request, int ms) {
    request.timeout = std::chrono::milliseconds(ms);
    return request;
  };
  const auto decoding = h.submit(timed(h.request(nullptr, "tell me more", 400), 20));
  const auto prefilling = h.submit(timed(h.request(h.document(letters(3000, 1)), "q", 2), 10));
  const auto waiting = h.submit(timed(h.request(nullptr, "never starts", 2), 5));
  const Request patient = h.request(nullptr, "has time", 5);
  const auto unlimited = h.submit(patient);
  h.run();

  EXPECT_EQ(waiting->n_admitted, 0);
  EXPECT_GT(prefilling->n_computed, 0);
  EXPECT_EQ(prefilling->n_first, 0);
  EXPECT_GT(decoding->result.tokens.size(), 5u) << "what was said is kept";
  EXPECT_EQ(decoding->text_so_far, decoding->result.text);
  int limit = 20;
  for (const auto& seen : {decoding, prefilling, waiting}) {
    EXPECT_EQ(seen->result.state, RequestState::kFailed);
    EXPECT_EQ(seen->result.error_code, ErrorCode::kTimeout);
    EXPECT_NE(seen->result.error.find("limit " + std::to_string(limit) + " ms"), std::string::npos)
        << seen->result.error;
    limit /= 2;
  }
  EXPECT_EQ(unlimited->result.tokens, h.alone(patient).tokens);
}

}  // namespace
}  // namespace swarmkv::internal
