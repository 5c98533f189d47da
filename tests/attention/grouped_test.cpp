// The grouped kernel against attention as its formula says it, and against itself: bits that must
// not change with company, place and threads.
#include "attention/grouped.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "attention/random_case.h"
#include "attention/reference.h"
#include "swarmkv/error.h"

namespace swarmkv::internal::test {
namespace {

constexpr double kMostError = 1e-9;

std::vector<float> reference(AttentionCase& c) {
  reference_attention(c.shape, c.tensors());
  return c.out;
}

TEST(GroupedAttention, StaysAccurateOverALongDocument) {
  AttentionCase c(64, 3, 1, 8, 9000, 1);
  c.share_prefix(8800, 2);
  const std::vector<float> should = reference(c);

  EXPECT_LE(normalised_error(c.grouped(2), should), kMostError);
}

// Weights of most cells are too small for a float here. They must not become denormal numbers: with
// those a call took fifty times as long.
TEST(GroupedAttention, StaysAccurateWithScoresFarApart) {
  AttentionCase c(64, 9, 3, 8, 600, 12);
  c.shape.scale = 4.0F;
  c.share_prefix(500, 13);
  const std::vector<float> should = reference(c);

  EXPECT_LE(normalised_error(c.grouped(2), should), kMostError);
}

// The longest piece of a prompt: a document, and each token sees those before it.
TEST(GroupedAttention, StaysAccurateWith512TokensAtOnce) {
  constexpr int kTokens = 512;
  constexpr int kPrefix = 90;
  AttentionCase c(64, 2, 1, kTokens, kPrefix + kTokens, 14);
  for (int t = 0; t < kTokens; ++t) c.see_range(t, 0, kPrefix + t + 1);
  const std::vector<float> should = reference(c);

  EXPECT_LE(normalised_error(c.grouped(2), should), kMostError);
}

TEST(GroupedAttention, GivesZerosToATokenThatSeesNothing) {
  AttentionCase c(64, 9, 3, 3, 200, 3);
  c.see_range(0, 0, 130);
  c.see(2, 199);

  const std::vector<float> result = c.grouped();

  EXPECT_EQ(c.row(result, 1), std::vector<float>(64 * 9, 0.0F));
  const std::vector<float> last = c.row(result, 2);
  EXPECT_EQ(last[0], half_to_float(c.v[199 * 64 * 3])) << "one cell seen: its value, exactly";
}

// Many threads and few rows: the call is cut along cells and elements too.
TEST(GroupedAttention, GivesTheSameBitsWithAnyNumberOfThreads) {
  for (const int size : {64, 128, 256}) {
    for (const int n_tokens : {1, 2, 8, 50}) {
      AttentionCase c(size, 9, 3, n_tokens, 1000, 5);
      c.share_prefix(800, 6);
      const std::vector<float> should = c.grouped(1);
      for (const int n_threads : {2, 3, 7, 32}) {
        ASSERT_EQ(c.grouped(n_threads), should) << n_tokens << " tokens, " << n_threads;
      }
    }
  }
}

TEST(GroupedAttention, IsCutAlongCellsWhereBlocksDoNotFillTheThreads) {
  EXPECT_EQ(cut_attention({64, 9, 3, 512, 4096, 1}, 4096, 2, 16, 4).n_phases(), 1);
  EXPECT_EQ(cut_attention({64, 9, 3, 2, 4096, 1}, 4096, 16, 16, 4).n_phases(), 4);
}

TEST(GroupedAttention, NeedsNoMoreRoomThanItSays) {
  struct Target {
    int lanes, most_vectors;
  };
  const AttentionShape shapes[] = {{64, 9, 3, 512, 0, 1},
                                   {256, 4, 1, 512, 0, 1},
                                   {64, 32, 1, 512, 0, 1},
                                   {128, 32, 8, 512, 0, 1},
                                   {64, 8, 8, 512, 0, 1}};
  for (const AttentionShape& shape : shapes) {
    for (const Target target : {Target{16, 4}, {8, 3}, {4, 3}}) {
      for (const int n_threads : {1, 2, 8, 16, 32}) {
        for (const int n_places : {100, 5000, 60000}) {
          const std::size_t most =
              most_attention_floats(shape, n_places, n_threads, target.lanes, target.most_vectors);
          std::size_t found = 0;
          for (AttentionShape some = shape; some.n_tokens >= 1; --some.n_tokens) {
            const auto cut =
                cut_attention(some, n_places, n_threads, target.lanes, target.most_vectors);
            found = std::max(found, cut.n_floats());
          }
          ASSERT_LE(found, most) << shape.n_heads << " heads, " << n_places << " places, "
                                 << n_threads << " threads, " << target.lanes << " lanes";
          EXPECT_LE(most, 2 * found);
        }
      }
    }
  }
}

// Cells times lanes is more than an int holds.
TEST(GroupedAttention, IsCutForCachesOfAnySize) {
  const auto cut = cut_attention({64, 9, 3, 50, 0, 1}, 1 << 30, 2, 16, 4);
  const std::size_t scores = std::size_t{1} << 30;
  EXPECT_GT(cut.block_floats, scores * 16 * static_cast<std::size_t>(cut.block_vectors));
}

TEST(GroupedAttention, HasNoBlocksWithoutTokens) {
  EXPECT_EQ(cut_attention({64, 9, 3, 0, 0, 1}, 0, 2, 16, 4).n_blocks, 0);
}

// 300 rows are 18 vectors of 16 and one of 12.
TEST(GroupedAttention, GivesThreadsTheNarrowBlocksLast) {
  const auto cut = cut_attention({64, 9, 3, 100, 0, 1}, 3500, 2, 16, 4);
  std::set<std::pair<int, int>> found;  // head and vector
  int last_width = 4;
  for (int index = 0; index < cut.n_blocks; ++index) {
    const BlockPlace place = place_of_block(cut, index);
    const int width = std::min(cut.block_vectors, 19 - place.vector);
    EXPECT_LE(width, last_width) << index;
    last_width = width;
    for (int v = 0; v < width; ++v) found.emplace(place.kv_head, place.vector + v);
  }
  EXPECT_EQ(cut.n_blocks, 3 * 5);
  EXPECT_EQ(found.size(), 3u * 19u);
  EXPECT_EQ(*found.rbegin(), std::pair(2, 18));
}

// Twelve vectors for two threads: three blocks of four would leave one thread idle for long.
TEST(GroupedAttention, TakesNarrowerBlocksWhereThatEvensOutTheThreads) {
  const auto cut = cut_attention({64, 1, 1, 192, 0, 1}, 3500, 2, 16, 4);
  EXPECT_EQ(cut.block_vectors, 3);
  EXPECT_EQ(cut.n_phases(), 1);
}

// token t of c becomes token `to` of the result, among `n_tokens` others that see other cells;
// cells behind the prefix move to places of their own, in the same order.
TEST(GroupedAttention, GivesARowTheSameBitsAloneAndInAnyCompany) {
  constexpr int kPrefix = 700;
  constexpr int kTail = 90;
  constexpr int kRow = 64 * 9;
  constexpr int kCell = 64 * 3;
  std::mt19937 random(8);
  AttentionCase alone(64, 9, 3, 1, kPrefix + kTail, 9);
  alone.see_range(0, 0, kPrefix + kTail);
  const std::vector<float> should = alone.grouped();
  for (const int n_tokens : {2, 3, 8, 21, 50, 130}) {
    AttentionCase crowd(64, 9, 3, n_tokens, kPrefix + kTail * 5, random());
    const int place = draw(random, 0, n_tokens - 1);
    std::vector<int> cells(static_cast<std::size_t>(kTail) * 5);
    std::iota(cells.begin(), cells.end(), kPrefix);
    std::vector<int> tail;
    std::sample(cells.begin(), cells.end(), std::back_inserter(tail), kTail, random);
    for (int t = 0; t < n_tokens; ++t) {
      crowd.see_range(t, 0, kPrefix);
      for (const int cell : cells) {
        if (t != place && random() % 3 == 0) crowd.see(t, cell);
      }
    }
    std::copy_n(alone.q.begin(), kRow, crowd.q.begin() + place * kRow);
    std::copy_n(alone.k.begin(), kPrefix * kCell, crowd.k.begin());
    std::copy_n(alone.v.begin(), kPrefix * kCell, crowd.v.begin());
    for (int i = 0; i < kTail; ++i) {
      const int cell = tail[static_cast<std::size_t>(i)];
      crowd.see(place, cell);
      std::copy_n(alone.k.begin() + (kPrefix + i) * kCell, kCell, crowd.k.begin() + cell * kCell);
      std::copy_n(alone.v.begin() + (kPrefix + i) * kCell, kCell, crowd.v.begin() + cell * kCell);
    }

    const std::vector<float> result = crowd.grouped(2);

    ASSERT_EQ(crowd.row(result, place), should) << "among " << n_tokens;
  }
}

// By three threads that begin every phase together, some times.
void expect_same_at_once(AttentionCase c, int n_phases) {
  constexpr int kThreads = 3;
  const std::vector<float> should = c.grouped(1);
  GroupedAttention attention;
  const AttentionLayout layout = c.layout();
  for (int round = 0; round < 5; ++round) {
    std::fill(c.out.begin(), c.out.end(), 77.0F);
    attention.prepare(c.shape, c.tensors(), layout, kThreads);
    ASSERT_EQ(attention.n_phases(), n_phases);
    std::barrier together(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (int phase = 0; phase < n_phases; ++phase) {
          together.arrive_and_wait();
          attention.run(phase, i);
        }
      });
    }
    for (auto& thread : threads) thread.join();
    ASSERT_EQ(c.out, should) << n_phases << " phases, round " << round;
  }
}

TEST(GroupedAttention, IsRightWhenThreadsReallyRunAtOnce) {
  AttentionCase many(64, 9, 3, 50, 1200, 10);
  many.share_prefix(1000, 11);
  expect_same_at_once(many, 1);
  AttentionCase few(64, 4, 2, 2, 3000, 15);
  few.share_prefix(2900, 16);
  expect_same_at_once(few, 4);
}

TEST(GroupedAttention, KnowsWhatItSupports) {
  EXPECT_TRUE(grouped_attention_supports(64, 9, 3));
  EXPECT_TRUE(grouped_attention_supports(256, 4, 1));
  EXPECT_FALSE(grouped_attention_supports(80, 9, 3));
  EXPECT_FALSE(grouped_attention_supports(64, 9, 2));
  EXPECT_FALSE(grouped_attention_supports(64, 9, 0));
  EXPECT_THROW(GroupedAttention("MMX"), Error);
}

}  // namespace
}  // namespace swarmkv::internal::test
