// A document is computed once, whoever asks for it and when.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/core_harness.h"
#include "support/texts.h"

namespace swarmkv::internal {
namespace {

enum class Arrival { kTogether, kOneByOne, kDuringPrefill };

struct Fan {
  int n;
  Arrival arrival;
};

CoreHarness::Options roomy(int n_cells = 3000, int n_seq_max = 64) {
  CoreHarness::Options options;
  options.context = {.n_cells = n_cells, .n_seq_max = n_seq_max, .n_batch = 64};
  options.scheduler.n_parallel = n_seq_max - 1;
  return options;
}

class SharedDocument : public ::testing::TestWithParam<Fan> {};

//              /-> question 1
//  document --|-> ...
//              \-> question n
TEST_P(SharedDocument, IsComputedOnceForAllWhoAsk) {
  CoreHarness h(roomy());
  const auto document = h.document(letters(300, 1));
  std::vector<Request> requests;
  std::vector<std::shared_ptr<Seen>> seen;
  for (int i = 0; i < GetParam().n; ++i) requests.push_back(h.request(document, question(i), 4));

  for (const Request& request : requests) {
    seen.push_back(h.submit(request));
    if (GetParam().arrival == Arrival::kOneByOne) h.run();
    if (GetParam().arrival == Arrival::kDuringPrefill) h.step();
  }
  h.run();

  EXPECT_EQ(h.core->stats().prompt_tokens_computed, tokens_with_shared_prefixes(requests));
  EXPECT_EQ(h.core->stats().prefix_tokens_computed, 300);
  EXPECT_EQ(h.core->stats().tokens_recomputed, 0);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i]->result.state, RequestState::kFinished) << seen[i]->result.error;
    ASSERT_EQ(seen[i]->result.tokens, h.alone(requests[i]).tokens) << "question " << i;
    EXPECT_EQ(seen[i]->result.n_cached_tokens, 300);
    EXPECT_EQ(seen[i]->result.n_computed_tokens, static_cast<int>(requests[i].suffix.size()));
  }
}

std::string fan_name(const ::testing::TestParamInfo<Fan>& info) {
  const char* names[] = {"Together", "OneByOne", "DuringPrefill"};
  return std::to_string(info.param.n) + names[static_cast<int>(info.param.arrival)];
}

INSTANTIATE_TEST_SUITE_P(Fans, SharedDocument,
                         ::testing::Values(Fan{1, Arrival::kTogether}, Fan{2, Arrival::kTogether},
                                           Fan{8, Arrival::kTogether}, Fan{50, Arrival::kTogether},
                                           Fan{300, Arrival::kTogether}, Fan{2, Arrival::kOneByOne},
                                           Fan{8, Arrival::kOneByOne}, Fan{50, Arrival::kOneByOne},
                                           Fan{300, Arrival::kOneByOne},
                                           Fan{2, Arrival::kDuringPrefill},
                                           Fan{8, Arrival::kDuringPrefill},
                                           Fan{50, Arrival::kDuringPrefill},
                                           Fan{300, Arrival::kDuringPrefill}),
                         fan_name);

TEST(PrefixSharing, CancellingTheFirstRequesterChangesNothingForTheOthers) {
  CoreHarness h(roomy());
  const auto document = h.document(letters(300, 1));
  const std::vector<Request> requests = {h.request(document, question(1)),
                                         h.request(document, question(2)),
                                         h.request(document, question(3))};
  std::vector<std::shared_ptr<Seen>> seen;
  for (const Request& request : requests) seen.push_back(h.submit(request));
  h.step();
  h.step();
  ASSERT_GT(seen[0]->n_computed, 0);
  ASSERT_LT(seen[0]->n_computed, 300);

  h.core->cancel(0, "gone");
  h.run();

  EXPECT_EQ(seen[0]->result.state, RequestState::kCancelled);
  EXPECT_EQ(h.core->stats().prompt_tokens_computed,
            tokens_with_shared_prefixes({requests[1], requests[2]}));
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(seen[i]->result.tokens, h.alone(requests[i]).tokens);
    EXPECT_EQ(seen[i]->result.n_cached_tokens, 300);
  }
}

TEST(PrefixSharing, WhatWasComputedBeforeTheLastWaiterLeftIsUsedAgain) {
  CoreHarness h(roomy());
  const auto document = h.document(letters(300, 1));
  h.submit(h.request(document, question(1)));
  h.step();
  h.step();
  h.core->cancel(0, "gone");
  h.step();
  ASSERT_TRUE(h.core->idle());
  const std::int64_t n_before = h.core->stats().prompt_tokens_computed;
  ASSERT_GT(n_before, 0);
  ASSERT_EQ(h.context->n_used_cells(), n_before) << "nothing but the part that is computed is kept";

  const Request second = h.request(document, question(2));
  const auto seen = h.submit(second);
  h.run();

  EXPECT_EQ(h.core->stats().prompt_tokens_computed, tokens_with_shared_prefixes({second}));
  EXPECT_EQ(seen->result.tokens, h.alone(second).tokens);
}

TEST(PrefixSharing, NobodyUsesAPrefixBeforeItIsComputed) {
  CoreHarness h(roomy());
  const auto document = h.document(letters(300, 1));
  for (int i = 0; i < 16; ++i) {
    h.submit(h.request(document, question(i)));
    h.step();
  }
  h.run();

  int last_document = 0, first_question = 1 << 30;
  for (const FakeLogEntry& entry : h.context->log()) {
    if (entry.pos < 300) last_document = std::max(last_document, entry.k);
    if (entry.pos >= 300) first_question = std::min(first_question, entry.k);
  }
  EXPECT_LT(last_document, first_question);
}

//  seq:  <start> d o c u m e n t | q u e s t i o n | a n s w e r
TEST(PrefixSharing, ABranchHoldsItsDocumentAndPromptAndNothingElse) {
  CoreHarness h(roomy());
  Tokens with_start = h.tokens(letters(200, 1));
  with_start.insert(with_start.begin(), kFakeStart);
  const auto document = std::make_shared<const Tokens>(with_start);
  std::vector<Request> requests;
  std::vector<std::shared_ptr<Seen>> seen;
  for (int i = 1; i <= 3; ++i) requests.push_back(h.request(document, question(i), 10));
  for (const Request& request : requests) seen.push_back(h.submit(request));
  h.run();

  using Placed = std::vector<std::pair<Token, Pos>>;
  std::map<SeqId, Placed> logged;
  for (const FakeLogEntry& e : h.context->log()) logged[e.seq].push_back({e.token, e.pos});
  std::vector<Placed> expected(1), got;
  for (int i = 0; i < 201; ++i) expected[0].push_back({with_start[static_cast<std::size_t>(i)], i});
  for (std::size_t i = 0; i < 3; ++i) {
    Tokens own = requests[i].suffix;
    const Tokens& answer = seen[i]->result.tokens;
    own.insert(own.end(), answer.begin(), answer.end());
    // The last token of an answer that was cut is never evaluated.
    if (seen[i]->result.finish_reason == FinishReason::kLength) own.pop_back();
    expected.emplace_back();
    for (const Token token : own) {
      expected.back().push_back({token, 201 + static_cast<Pos>(expected.back().size())});
    }
  }
  for (const auto& [seq, placed] : logged) got.push_back(placed);
  std::sort(expected.begin(), expected.end());
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, expected);
}

//  [0, 100) is there --> [100, 160) --> [160, 200)
TEST(PrefixProgress, TellsWhatWasThereFromWhatForwardsBrought) {
  CoreHarness h(roomy());
  const auto first = h.submit(h.request(h.document(letters(100, 1)), "q", 2));
  h.run();
  Request longer = h.request(h.document(letters(100, 1) + letters(100, 2)), "q", 2);
  longer.fork_points = {100, 160};
  const auto second = h.submit(longer), third = h.submit(longer);
  h.run();

  ASSERT_FALSE(first->progress.empty());
  for (const PrefixProgress& p : first->progress) EXPECT_TRUE(p.began.has_value());
  ASSERT_GE(second->progress.size(), 3u);
  EXPECT_EQ(second->progress[0].n_computed, 100);
  EXPECT_FALSE(second->progress[0].began.has_value()) << "nothing was computed for it";
  for (std::size_t i = 1; i < second->progress.size(); ++i) {
    EXPECT_TRUE(second->progress[i].began.has_value());
  }
  EXPECT_EQ(second->progress.back().n_computed, 200);

  // The pieces end where the cuts are, and each has its own beginning.
  const std::vector<ComputedRange>& ranges = second->result.prefix_computed_ranges;
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].begin, 100);
  EXPECT_EQ(ranges[0].end, 160);
  EXPECT_EQ(ranges[1].begin, 160);
  EXPECT_EQ(ranges[1].end, 200);
  EXPECT_LT(ranges[0].began, ranges[1].began);
  EXPECT_TRUE(third->result.prefix_computed_ranges.empty()) << "it waited for the same";
}

}  // namespace
}  // namespace swarmkv::internal
