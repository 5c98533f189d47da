// Greedy sampling's arg-max: ties, NaN, and lengths around its blocks and lanes.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "engine/llama/arg_max.h"

namespace swarmkv::internal {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

int slow_arg_max(const std::vector<float>& values) {
  int best = -1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != values[i]) continue;
    if (best < 0 || values[i] > values[static_cast<std::size_t>(best)]) best = static_cast<int>(i);
  }
  return best;
}

TEST(ArgMax, FindsTheLargestWhateverTheLength) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const int n : {1, 2, 15, 16, 17, 1023, 1024, 1025, 2048, 3000, 49152}) {
    for (int round = 0; round < 50; ++round) {
      // Few distinct values, so that equal ones occur in different blocks; every tenth is NaN.
      std::vector<float> values(static_cast<std::size_t>(n));
      for (float& value : values) {
        value = random() % 10 == 0 ? kNan : static_cast<float>(random() % 40) - 20.0f;
      }
      ASSERT_EQ(arg_max(values), slow_arg_max(values)) << n;
    }
  }
}

TEST(ArgMax, PrefersTheLowestIndexAmongEquals) {
  std::vector<float> values(5000, 1.0f);
  EXPECT_EQ(arg_max(values), 0);
  values[4000] = values[1234] = values[1233] = 2.0f;
  EXPECT_EQ(arg_max(values), 1233);
}

TEST(ArgMax, NeverAnswersNan) {
  EXPECT_EQ(arg_max(std::vector<float>{kNan, -3.0f, kNan}), 1);
  EXPECT_EQ(arg_max(std::vector<float>(2000, kNan)), -1);
  EXPECT_EQ(arg_max(std::vector<float>{}), -1);
}

TEST(ArgMax, HandlesInfinities) {
  std::vector<float> values(3000, -kInf);
  values[0] = kNan;
  EXPECT_EQ(arg_max(values), 1);
  values[2900] = kInf;
  EXPECT_EQ(arg_max(values), 2900);
}

}  // namespace
}  // namespace swarmkv::internal
