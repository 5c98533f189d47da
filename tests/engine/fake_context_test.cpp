#include <gtest/gtest.h>
#include <malloc.h>

#include <random>

#include "engine/fake_fixture.h"

namespace swarmkv::internal {
namespace {

std::unique_ptr<FakeContext> context_of(FakeOptions model = {}, int n_cells = 64, int n_seq_max = 4,
                                        int n_batch = 64) {
  ContextOptions options;
  options.n_cells = n_cells;
  options.n_seq_max = n_seq_max;
  options.n_batch = n_batch;
  return make_fake_model(std::move(model))->make_fake_context(options);
}

FakeOptions kind_of(ForkKind kind, int n_swa = 0) {
  FakeOptions options;
  options.fork_kind = kind;
  options.n_swa = n_swa;
  return options;
}

//  document (8) --+-- "ab" (1)
//                 +-- "c"  (2)
TEST(FakeContext, SharesTheCellsOfAForkAndCountsThemOnce) {
  const auto context = context_of();

  feed(*context, 0, "document");
  context->fork(0, 1, 8);
  context->fork(0, 2, 8);
  feed(*context, 1, "ab");
  feed(*context, 2, "c");

  EXPECT_EQ(context->n_used_cells(), 8 + 2 + 1);
  EXPECT_EQ(fake_text(context->tokens(1)), "documentab");
  EXPECT_EQ(context->cells(2)[3].owners.count(), 3U);
  EXPECT_EQ(context->integrity_fault(), "");
}

TEST(FakeContext, FreesACellWithItsLastOwnerOnly) {
  const auto context = context_of();
  feed(*context, 0, "document");
  context->fork(0, 1, 5);

  context->release(0);
  const int used_by_fork = context->n_used_cells();
  context->release(1);

  EXPECT_EQ(used_by_fork, 5);
  EXPECT_EQ(context->n_used_cells(), 0);
  EXPECT_EQ(context->peak_used_cells(), 8);
  EXPECT_EQ(context->integrity_fault(), "");
}

TEST(FakeContext, AnswersNoSlotAndChangesNothingWhenTheBatchDoesNotFit) {
  const auto context = context_of({}, 10);
  feed(*context, 0, "documents");
  const auto before = context->cells(0);

  const ForwardStatus status = context->forward(next_tokens(*context, 1, "ab"));

  EXPECT_EQ(status, ForwardStatus::kNoSlot);
  EXPECT_EQ(context->cells(0), before);
  EXPECT_EQ(context->length(1), 0);
  EXPECT_EQ(context->n_used_cells(), 9);
  EXPECT_EQ(context->forward(next_tokens(*context, 1, "a")), ForwardStatus::kOk)
      << "exactly one cell is left";
}

TEST(FakeContext, LogsEveryTokenThatWasForwarded) {
  const auto context = context_of({}, 4);

  feed(*context, 1, "ab");
  (void)context->forward(next_tokens(*context, 2, "too long"));
  feed(*context, 1, "c");

  const std::vector<FakeLogEntry> expected = {{1, 'a', 0, 1}, {1, 'b', 1, 1}, {3, 'c', 2, 1}};
  EXPECT_EQ(context->log(), expected);
  EXPECT_EQ(context->log(1), expected);
  EXPECT_TRUE(context->log(2).empty()) << "a batch that did not fit is not in the log";
  EXPECT_EQ(context->n_forwards(), 3);
  EXPECT_EQ(context->n_tokens_forwarded(), 3);
}

// What `--engine fake` runs on is not made for a test and keeps no log.
TEST(FakeContext, DoesNotGrowInALongRunWithoutALog) {
  const auto context = make_fake_model()->make_context({.n_cells = 64, .n_seq_max = 4});
  auto& fake = dynamic_cast<FakeContext&>(*context);
  const auto run = [&](int n_rounds) {
    for (int i = 0; i < n_rounds; ++i) {
      feed(fake, 0, "a document of some length");
      fake.fork(0, 1, 20);
      feed(fake, 1, "question");
      fake.release(1);
      fake.release(0);
    }
    return ::mallinfo2().uordblks;  // bytes in use on the heap; 0 under sanitizers
  };
  const std::size_t before = run(100);

  const std::size_t after = run(10'000);

  EXPECT_EQ(fake.n_tokens_forwarded(), 10'100 * 33);
  EXPECT_TRUE(fake.log().empty());
  EXPECT_LE(after, before + 4096) << "a log would take 5 MB";
}

TEST(FakeContext, CutsTheEndOffASequence) {
  const auto context = context_of();
  feed(*context, 0, "document");

  EXPECT_TRUE(context->truncate(0, 3));
  EXPECT_TRUE(context->truncate(0, 3)) << "nothing left to drop is no failure";

  EXPECT_EQ(fake_text(context->tokens(0)), "doc");
  EXPECT_EQ(context->n_used_cells(), 3);
  EXPECT_EQ(context->integrity_fault(), "");
}

TEST(FakeContext, RefusesBatchesThatBreakAPrecondition) {
  const auto context = context_of({}, 64, 2, 4);
  feed(*context, 0, "abc");
  const auto forward = [&](Batch batch) { return thrown([&] { (void)context->forward(batch); }); };

  EXPECT_EQ(forward({}), "invalid_argument");
  EXPECT_EQ(forward(next_tokens(*context, 1, "abcde")), "invalid_argument") << "above n_batch";
  EXPECT_EQ(forward({{'x', 4, 0, true}}), "invalid_argument") << "a hole";
  EXPECT_EQ(forward({{'x', 2, 0, true}}), "invalid_argument") << "a position twice";
  EXPECT_EQ(forward({{'x', 3, 1, true}}), "invalid_argument") << "behind an empty sequence";
  EXPECT_EQ(forward({{'x', 3, 0, false}, {'x', 3, 0, true}}), "invalid_argument");
  EXPECT_EQ(forward({{'x', 0, 2, true}}), "invalid_argument") << "an id beyond n_seq_max";
  EXPECT_EQ(forward({{'x', 0, -1, true}}), "invalid_argument");
  EXPECT_EQ(forward({{kFakeVocabSize, 3, 0, true}}), "invalid_argument");
  EXPECT_EQ(forward({{'x', 3, 0, true}, {'x', 4, 0, true}, {'x', 5, 0, true}}), "invalid_argument")
      << "more rows of logits than n_seq_max";
  EXPECT_EQ(context->n_forwards(), 1);
  EXPECT_EQ(context->n_used_cells(), 3);
}

TEST(FakeContext, RefusesForksThatBreakAPrecondition) {
  const auto context = context_of();
  feed(*context, 0, "abc");
  feed(*context, 1, "x");
  const auto fork = [&](SeqId source, SeqId target, Pos end) {
    return thrown([&] { context->fork(source, target, end); });
  };

  EXPECT_EQ(fork(0, 1, 3), "invalid_argument") << "the target is not empty";
  EXPECT_EQ(fork(0, 2, 4), "invalid_argument") << "beyond the source's end";
  EXPECT_EQ(fork(0, 2, -1), "invalid_argument");
  EXPECT_EQ(fork(2, 2, 0), "invalid_argument");
  EXPECT_EQ(fork(0, 4, 3), "invalid_argument");
  EXPECT_EQ(fork(0, 2, 3), "nothing thrown");
}

TEST(FakeContext, RefusesOptionsThatNoEngineWouldTake) {
  const auto make = [](int n_cells, int n_seq_max, int n_batch) {
    return thrown([&] { (void)context_of({}, n_cells, n_seq_max, n_batch); });
  };

  EXPECT_EQ(make(0, 4, 4), "invalid_argument");
  EXPECT_EQ(make(4, 0, 4), "invalid_argument");
  EXPECT_EQ(make(4, 257, 4), "invalid_argument");
  EXPECT_EQ(make(4, 4, 0), "invalid_argument");
  EXPECT_EQ(make(1, 256, 1), "nothing thrown");
}

TEST(FakeContext, SamplesOnlyRowsThatAskedForLogits) {
  const auto context = context_of();
  FakeSampler greedy{Sampling{}};
  feed(*context, 0, "abc");
  SampleRow first{0, &greedy}, last{2, &greedy}, none{2, nullptr};

  EXPECT_EQ(thrown([&] { context->sample({&first, 1}); }), "invalid_argument");
  EXPECT_EQ(thrown([&] { context->sample({&none, 1}); }), "invalid_argument");
  EXPECT_EQ(thrown([&] { context->sample({&last, 1}); }), "nothing thrown");
  EXPECT_EQ(thrown([&] { (void)context->logits(0); }), "invalid_argument");
}

TEST(FakeContext, GivesTheGreedyTokenTheHighestLogit) {
  const auto context = context_of();
  const Token greedy = feed(*context, 0, "some text");

  const auto logits = context->logits(8);

  ASSERT_EQ(logits.size(), static_cast<std::size_t>(kFakeVocabSize));
  const auto best = std::max_element(logits.begin(), logits.end());
  EXPECT_EQ(best - logits.begin(), greedy);
}

TEST(FakeContext, KeepsTheWindowByDefaultAndForksAnywhere) {
  const auto context = context_of(kind_of(ForkKind::kWindow, 4));
  feed(*context, 0, "0123456789");

  EXPECT_TRUE(context->can_fork(0, 2));
  EXPECT_TRUE(context->can_fork(0, 10));
}

// window of 4: after ten tokens only [7, 10) can be looked back on by the next one
TEST(FakeContext, RefusesForksBehindADroppedWindow) {
  const auto context = context_of(kind_of(ForkKind::kWindow, 4));
  context->faults().set_drop_outside_window(true);
  feed(*context, 0, "0123456789");

  EXPECT_EQ(context->window_min(0), 7);
  EXPECT_TRUE(context->can_fork(0, 10));
  EXPECT_FALSE(context->can_fork(0, 9)) << "position 9 looks back to 6";
  EXPECT_FALSE(context->truncate(0, 9));
  EXPECT_EQ(context->length(0), 10);
  EXPECT_EQ(context->n_used_cells(), 10) << "base cells stay";
  EXPECT_EQ(context->integrity_fault(), "");
}

TEST(FakeContext, ForksRecurrentSequencesAtTheirEndOnly) {
  const auto context = context_of(kind_of(ForkKind::kRecurrent), 4);
  feed(*context, 0, "longer than the pool");

  EXPECT_FALSE(context->can_fork(0, 19));
  EXPECT_TRUE(context->can_fork(0, 20));
  EXPECT_FALSE(context->truncate(0, 19));
  EXPECT_TRUE(context->truncate(0, 20));
  EXPECT_TRUE(context->truncate(0, 0));
  EXPECT_EQ(context->length(0), 0);
  EXPECT_EQ(context->integrity_fault(), "");
}

TEST(FakeContext, EnforcesTheBatchLimitsOfRecurrentModels) {
  const auto context = context_of(kind_of(ForkKind::kRecurrent));
  const auto forward = [&](Batch batch) { return thrown([&] { (void)context->forward(batch); }); };

  EXPECT_TRUE(context->batch_limits().equal_lengths);
  EXPECT_TRUE(context->batch_limits().consecutive_ids);
  EXPECT_EQ(forward({{'a', 0, 0, true}, {'a', 0, 1, false}, {'b', 1, 1, true}}),
            "invalid_argument");
  EXPECT_EQ(forward({{'a', 0, 0, true}, {'a', 0, 2, true}}), "invalid_argument");
  EXPECT_EQ(forward({{'a', 0, 2, true}, {'a', 0, 1, true}}), "nothing thrown");
}

// Random forks, forwards, cuts and releases against a list of plain token vectors.
TEST(FakeContext, AgreesWithPlainListsUnderRandomUse) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto context = context_of({}, 60, 6);
  context->faults().set_verify(true);
  std::vector<std::string> plain(6);
  int n_full = 0;

  for (int step = 0; step < 3000; ++step) {
    const SeqId a = below(6), b = below(6);
    std::string& text = plain[static_cast<std::size_t>(a)];
    const int kind = below(8);
    if (kind < 4) {
      const std::string more(static_cast<std::size_t>(1 + below(9)),
                             static_cast<char>('a' + below(26)));
      if (context->forward(next_tokens(*context, a, more)) == ForwardStatus::kOk) {
        text += more;
      } else {
        ++n_full;
      }
    } else if (kind < 6) {
      std::string& target = plain[static_cast<std::size_t>(b)];
      if (a == b || !target.empty()) continue;
      const int end = below(static_cast<int>(text.size()) + 1);
      context->fork(a, b, end);
      target = text.substr(0, static_cast<std::size_t>(end));
    } else if (kind == 6) {
      context->release(a);
      text.clear();
    } else {
      const int from = below(static_cast<int>(text.size()) + 1);
      ASSERT_TRUE(context->truncate(a, from));
      text.resize(static_cast<std::size_t>(from));
    }
    ASSERT_EQ(context->integrity_fault(), "") << "step " << step;
    for (SeqId s = 0; s < 6; ++s) {
      ASSERT_EQ(fake_text(context->tokens(s)), plain[static_cast<std::size_t>(s)])
          << "step " << step;
    }
  }
  EXPECT_GT(n_full, 0) << "the pool was never full, so the test missed that path";
}

}  // namespace
}  // namespace swarmkv::internal
