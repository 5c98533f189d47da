// How exact a weight is: e^(score - maximum), of a row that sees two cells.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "attention/attention_case.h"

namespace swarmkv::internal::test {
namespace {

constexpr std::uint16_t kOne = 0x3C00;

// The queries are zero, so the mask alone makes the scores: 0 and gap (a half). With values 0 and 1
// the result is the second cell's part of both.
double weight_of(AttentionCase& c, std::uint16_t gap) {
  c.mask = {0, gap};
  const double part = c.grouped()[0];
  return part / (1.0 - part);
}

AttentionCase two_cells(const std::string& target) {
  AttentionCase c(64, 1, 1, 1, 2, 1);
  c.target = target;
  std::fill(c.q.begin(), c.q.end(), 0.0F);
  std::fill_n(c.v.begin(), 64, std::uint16_t{0});
  std::fill_n(c.v.begin() + 64, 64, kOne);
  return c;
}

// 2e-7 of the weight, and what rounding its part makes of it.
TEST(Weights, AreExactOverAllGaps) {
  for (const std::string& target : grouped_attention_targets()) {
    AttentionCase c = two_cells(target);
    for (std::uint16_t half = 0x8400; half <= 0xD380; half += 5) {
      const double gap = half_to_float(half);
      ASSERT_NEAR(weight_of(c, half) / std::exp(gap), 1.0, 4e-7) << target << ", " << gap;
    }
  }
}

TEST(Weights, AreZeroBelowTheLeast) {
  for (const std::string& target : grouped_attention_targets()) {
    AttentionCase c = two_cells(target);
    EXPECT_GT(weight_of(c, 0xD380), 0.0) << target << ": -60";
    EXPECT_EQ(weight_of(c, 0xD381), 0.0) << target << ": -60.03";
    EXPECT_EQ(weight_of(c, 0xFBFF), 0.0) << target << ": the least half";
    EXPECT_EQ(weight_of(c, 0x8000), 1.0) << target << ": no gap";
  }
}

}  // namespace
}  // namespace swarmkv::internal::test
