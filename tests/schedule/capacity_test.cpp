// Cells and sequence ids: nothing is lost, nothing is promised twice, and everybody gets a turn.
#include <gtest/gtest.h>

#include "support/core_harness.h"
#include "support/fork_kinds.h"
#include "support/texts.h"

namespace swarmkv::internal {
namespace {

CoreHarness::Options pool_of(int n_cells, int n_seq_max = 16, ForkKind kind = ForkKind::kFull) {
  CoreHarness::Options options;
  options.model.eog_every = 0;
  options.model.fork_kind = kind;
  options.model.n_swa = kind == ForkKind::kWindow ? 16 : 0;
  options.context = {
      .n_cells = n_cells, .n_seq_max = n_seq_max, .n_batch = std::max(64, n_seq_max)};
  options.scheduler.n_parallel = n_seq_max - 1;
  return options;
}

// Runs one request of three kinds: to its end, into a failing engine, or cancelled half way.
void run_one(CoreHarness& h, const Request& request, int i) {
  if (i % 3 == 1) h.model->faults().fail_at(h.context->n_forwards() + 2, ForwardStatus::kFatal);
  const auto seen = h.submit(request);
  if (i % 3 == 2) {
    h.step();
    h.core->cancel(h.last_id(), "gone");
  }
  h.run(1000);
  const RequestState states[] = {RequestState::kFinished, RequestState::kFailed,
                                 RequestState::kCancelled};
  ASSERT_EQ(seen->result.state, states[i % 3]) << "request " << i << ": " << seen->result.error;
  if (i % 3 == 1) {
    ASSERT_EQ(seen->result.error_code, ErrorCode::kEngineFailed);
  }
}

TEST(Capacity, CellsOfEndedRequestsComeBack) {
  CoreHarness h(pool_of(30));
  const Request request =
      h.request(nullptr, "twenty letters of it", 11);  // 20 + 10 cells: all there are
  for (int i = 0; i < 500; ++i) {
    ASSERT_NO_FATAL_FAILURE(run_one(h, request, i));
    ASSERT_EQ(h.context->n_used_cells(), 0) << "after request " << i;
  }
}

TEST(Capacity, ADocumentThatStaysCachedDoesNotGrow) {
  CoreHarness h(pool_of(80));
  const auto document = h.document(letters(60, 1));
  for (int i = 0; i < 500; ++i) {
    ASSERT_NO_FATAL_FAILURE(run_one(h, h.request(document, "ten chars.", 11), i));
    ASSERT_LE(h.context->n_used_cells(), 60) << "after request " << i;
  }
  EXPECT_EQ(h.core->stats().prefix_tokens_computed, 60) << "failures of a branch spoil no document";
}

//  pool = document + 1.5 branches
TEST(Capacity, BranchesOfAnOvercommittedPoolTakeTurnsAndAllFinish) {
  for (const int max_tokens : {20, 100, 200}) {
    const int n_tail = 20 + max_tokens - 1;
    CoreHarness h(pool_of(200 + n_tail + n_tail / 2));
    const auto document = h.document(letters(200, 1));
    std::vector<Request> requests;
    std::vector<std::shared_ptr<Seen>> seen;
    for (int i = 0; i < 4; ++i)
      requests.push_back(h.request(document, std::to_string(i) + letters(19, 7), max_tokens));
    for (const Request& request : requests) seen.push_back(h.submit(request));
    h.run();

    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(seen[i]->result.state, RequestState::kFinished) << seen[i]->result.error;
      EXPECT_EQ(seen[i]->result.tokens, h.alone(requests[i]).tokens);
      EXPECT_EQ(seen[i]->text_so_far, seen[i]->result.text);
    }
    EXPECT_EQ(h.core->stats().prefix_tokens_computed, 200)
        << "the document is not evicted under its branches";
  }
}

class FanOut : public ::testing::TestWithParam<ForkKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, FanOut, every_fork_kind(), fork_kind_name);

TEST_P(FanOut, AnyNumberOfBranchesFromAnyPointOfTheDocument) {
  const bool recurrent = GetParam() == ForkKind::kRecurrent;
  const int n_prompt = 40;
  for (const int n_branches : {1, 50, 64, 65, 256, 257, 300}) {
    for (const int n_prefix : {1, n_prompt / 2, n_prompt - 1, n_prompt}) {
      SCOPED_TRACE(::testing::Message() << n_branches << " branches from " << n_prefix);
      CoreHarness h(pool_of(4000, recurrent ? 64 : 256, GetParam()));
      const std::string text = letters(n_prefix, 1);
      const auto document = h.document(text);
      const Request request = h.request(document, letters(n_prompt - n_prefix, 2), 3);
      std::vector<std::shared_ptr<Seen>> seen;
      for (int i = 0; i < n_branches; ++i) seen.push_back(h.submit(request));
      while (!h.core->idle()) ASSERT_NO_THROW(h.core->step());
      h.check();

      const Tokens expected = h.alone(request).tokens;
      for (const auto& s : seen) {
        ASSERT_EQ(s->result.state, RequestState::kFinished) << s->result.error;
        ASSERT_EQ(s->result.tokens, expected);
      }
    }
  }
}

TEST(Capacity, PeakCellsAreTheDocumentAndTheTails) {
  for (const int n : {1, 2, 8, 15}) {
    CoreHarness h(pool_of(2000));
    const auto document = h.document(letters(150, 1));
    int n_tails = 0;
    for (int i = 0; i < n; ++i) {
      const Request request = h.request(document, std::to_string(i % 10), 20);
      n_tails += static_cast<int>(request.suffix.size()) + request.max_tokens - 1;
      h.submit(request);
    }
    h.run();

    EXPECT_EQ(h.core->stats().peak_used_cells, 150 + n_tails);
    EXPECT_EQ(h.context->peak_used_cells(), 150 + n_tails);
  }
}

//  cells for one document and its branches; two documents take turns, so one is always in the way
TEST(Capacity, ADocumentInUseIsNotEvictedForAnother) {
  CoreHarness h(pool_of(160));
  const std::shared_ptr<const Tokens> documents[] = {h.document(letters(90, 1)),
                                                     h.document(letters(90, 2))};
  std::vector<Request> requests;
  std::vector<std::shared_ptr<Seen>> seen;
  for (int i = 0; i < 24; ++i) {
    requests.push_back(h.request(documents[i / 2 % 2], question(i), 6 + i % 9));
    seen.push_back(h.submit(requests.back()));
    if (i % 4 == 3) h.step();
    if (i % 8 == 5) h.core->cancel(static_cast<std::uint64_t>(i - 2), "gone");
  }
  h.run();

  EXPECT_GT(h.core->stats().n_evictions, 0) << "the test wants documents that push each other out";
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i]->n_finished, 1);
    if (seen[i]->result.state == RequestState::kCancelled) continue;
    EXPECT_EQ(seen[i]->result.state, RequestState::kFinished) << seen[i]->result.error;
    EXPECT_EQ(seen[i]->result.tokens, h.alone(requests[i]).tokens) << i;
  }
}

TEST(Capacity, EveryBranchSeesItsWholePromptHoweverManyThereAre) {
  for (const int n : {1, 2, 8, 32}) {
    CoreHarness h(pool_of(400, 40));
    const auto document = h.document("first fact " + letters(100, 1) + " last fact");
    const Request request = h.request(document, "what are the facts?", 5);
    std::vector<std::shared_ptr<Seen>> seen;
    for (int i = 0; i < n; ++i) seen.push_back(h.submit(request));
    h.run();

    for (const auto& s : seen) {
      EXPECT_EQ(s->result.n_prompt_tokens, request.n_prompt());
      EXPECT_EQ(s->result.n_cached_tokens + s->result.n_computed_tokens, request.n_prompt());
      EXPECT_EQ(s->result.tokens, h.alone(request).tokens);
    }
  }
}

}  // namespace
}  // namespace swarmkv::internal
