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

//  cached: a, b, c, 120 cells each   running: on a, to 120 more   free: 20
//  waiting: the head on d (cold), then two on b and c, for whose own prompts there is no room
TEST(Fairness, AColdDocumentDoesNotWaitForAnIdlePoolWhereOthersWantAllThatIsCached) {
  CoreHarness::Options options;
  options.model.eog_every = 0;
  options.context = {.n_cells = 500, .n_seq_max = 16, .n_batch = 64};
  options.scheduler.n_parallel = 8;
  CoreHarness h(options);
  std::vector<std::shared_ptr<const Tokens>> documents;
  for (unsigned i = 1; i <= 4; ++i) documents.push_back(h.document(letters(120, i)));
  for (std::size_t i = 0; i < 3; ++i) {
    h.submit(h.request(documents[i], "q", 2));
    h.run();
  }
  const auto running = h.submit(h.request(documents[0], "q", 120));
  h.step();
  const Request cold = h.request(documents[3], "q", 5);
  const auto head = h.submit(cold);
  std::vector<Request> wanting;
  std::vector<std::shared_ptr<Seen>> waiting;
  for (const std::size_t i : {1, 2}) {
    wanting.push_back(h.request(documents[i], letters(40, 9), 5));
    waiting.push_back(h.submit(wanting.back()));
  }
  ASSERT_EQ(h.core->stats().n_evictions, 0);
  int n_steps = 0;
  while (head->n_admitted == 0) {
    ASSERT_LT(n_steps, 200);
    ASSERT_FALSE(running->done()) << "it waits until nothing runs";
    for (const auto& w : waiting) ASSERT_EQ(w->n_admitted, 0) << "the test wants them to wait";
    h.step();
    ++n_steps;
  }

  EXPECT_EQ(n_steps, 66) << "as long as others might have passed it";
  EXPECT_EQ(h.core->stats().n_evictions, 1) << "what is wanted last, and no more than it needs";
  h.run();
  EXPECT_EQ(head->result.tokens, h.alone(cold).tokens);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(waiting[i]->result.tokens, h.alone(wanting[i]).tokens);
  }
  EXPECT_LT(*waiting[0]->result.finished, *waiting[1]->result.finished);
  EXPECT_EQ(h.core->stats().prefix_tokens_computed, 5 * 120) << "only c had to be computed again";
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
