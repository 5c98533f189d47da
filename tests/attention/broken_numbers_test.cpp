// Cells that hold no numbers: a mark of broken weights or of a fault elsewhere. Who sees one must
// show it, and nobody else may be touched by it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "attention/attention_case.h"

namespace swarmkv::internal::test {
namespace {

constexpr int kCell = 64 * 3;
constexpr int kManyThreads = 16;  // so many that a call is cut along its cells
constexpr std::uint16_t kNoNumbers[] = {0x7E00, 0xFE00, 0x7C01, 0x7C00, 0xFC00};  // NaN, infinity

AttentionCase some_case(const std::string& target, int n_tokens, int n_cells) {
  AttentionCase c(64, 9, 3, n_tokens, n_cells, 4);
  c.target = target;
  return c;
}

void spoil(std::vector<std::uint16_t>& numbers, int first_cell, std::uint16_t broken) {
  std::fill(numbers.begin() + first_cell * kCell, numbers.end(), broken);
}

bool is_finite(const std::vector<float>& row) {
  return std::all_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); });
}

template <typename Check>
void on_every_target(Check check) {
  for (const std::string& target : grouped_attention_targets()) {
    for (const std::uint16_t broken : kNoNumbers) {
      SCOPED_TRACE(target + ", " + std::to_string(broken));
      check(target, broken);
    }
  }
}

TEST(BrokenNumbers, AreNotTouchedWhereNobodySeesThem) {
  on_every_target([](const std::string& target, std::uint16_t broken) {
    AttentionCase c = some_case(target, 4, 300);
    for (int t = 0; t < 4; ++t) c.see_range(t, 0, 250);
    const std::vector<float> should = c.grouped();
    spoil(c.k, 250, broken);
    spoil(c.v, 250, broken);

    EXPECT_EQ(c.grouped(), should);
    EXPECT_EQ(c.grouped(kManyThreads), should);
  });
}

// Token 3 sees all cells, and the others take part in its vectors.
TEST(BrokenNumbers, DoNotReachWhoDoesNotSeeThem) {
  on_every_target([](const std::string& target, std::uint16_t broken) {
    AttentionCase c = some_case(target, 4, 300);
    for (int t = 0; t < 4; ++t) c.see_range(t, 0, t == 3 ? 300 : 250);
    const std::vector<float> should = c.grouped();
    spoil(c.k, 250, broken);
    spoil(c.v, 250, broken);

    const std::vector<float> is = c.grouped();

    for (int t = 0; t < 3; ++t) EXPECT_EQ(c.row(is, t), c.row(should, t)) << t;
    EXPECT_EQ(c.row(c.grouped(kManyThreads), 0), c.row(should, 0));
  });
}

// An answer made of them would look like any other.
TEST(BrokenNumbers, OfKeysShowWhereTheyAreSeen) {
  on_every_target([](const std::string& target, std::uint16_t broken) {
    AttentionCase c = some_case(target, 2, 100);
    for (int t = 0; t < 2; ++t) c.see_range(t, 0, 100);
    // Of an infinite element the score may be minus infinity, of a whole key it is NaN.
    std::fill_n(c.k.begin() + 70 * kCell, kCell, broken);

    EXPECT_FALSE(is_finite(c.row(c.grouped(), 0)));
    EXPECT_FALSE(is_finite(c.row(c.grouped(kManyThreads), 0)));
  });
}

// Less itself that is no number; the others' weights next to it would be zero.
TEST(BrokenNumbers, OfAScoreThatIsInfiniteShow) {
  for (const std::string& target : grouped_attention_targets()) {
    for (const int n_threads : {1, kManyThreads}) {
      AttentionCase c = some_case(target, 2, 100);
      for (int t = 0; t < 2; ++t) c.see_range(t, 0, 100);
      c.k[70 * kCell] = c.q[0] > 0 ? 0x7C00 : 0xFC00;
      EXPECT_FALSE(is_finite(c.row(c.grouped(n_threads), 0))) << target << ", " << n_threads;
    }
  }
}

TEST(BrokenNumbers, OfValuesShowWhereTheyAreSeen) {
  on_every_target([](const std::string& target, std::uint16_t broken) {
    AttentionCase c = some_case(target, 2, 100);
    for (int t = 0; t < 2; ++t) c.see_range(t, 0, 100);
    c.v[70 * kCell] = broken;

    EXPECT_FALSE(is_finite(c.row(c.grouped(), 0)));
    EXPECT_FALSE(is_finite(c.row(c.grouped(kManyThreads), 0)));
  });
}

}  // namespace
}  // namespace swarmkv::internal::test
