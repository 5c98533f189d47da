#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "swarmkv/report.h"

namespace swarmkv {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> samples(static_cast<std::size_t>(n));
  std::iota(samples.begin(), samples.end(), 1.0);
  return samples;
}

TEST(Percentiles, KnowNothingOfNoSamples) {
  const Percentiles p = percentiles({});

  EXPECT_EQ(p.n, 0U);
  EXPECT_FALSE(p.p50 || p.p95 || p.p99 || p.max) << "unknown is unset, never 0";
}

TEST(Percentiles, TakeTheNearestRankAndNeverAMeanOfTwo) {
  EXPECT_EQ(percentiles({10, 20}).p50, 10);
  EXPECT_EQ(percentiles({30, 10, 20}).p50, 20);
  EXPECT_EQ(percentiles(one_to(100)).p50, 50);
  EXPECT_EQ(percentiles(one_to(100)).p95, 95);
  EXPECT_EQ(percentiles(one_to(100)).p99, 99);
}

TEST(Percentiles, GiveTailsFromTwentySamplesOn) {
  const Percentiles few = percentiles(one_to(19));
  const Percentiles enough = percentiles(one_to(20));

  EXPECT_FALSE(few.p95 || few.p99);
  EXPECT_EQ(few.max, 19);
  EXPECT_EQ(enough.p95, 19) << "19 of 20 are not larger";
  EXPECT_EQ(enough.p99, 20);
}

TEST(Percentiles, AgreeWithTheDefinitionOnRandomSamples) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> samples(20 + random() % 300);
    for (double& x : samples) x = static_cast<double>(random() % 50);

    const Percentiles p = percentiles(samples);

    // The smallest sample with at least 95 % of all samples at or below it.
    const auto at_or_below = [&](double limit) {
      return std::count_if(samples.begin(), samples.end(), [&](double x) { return x <= limit; });
    };
    double expected = std::numeric_limits<double>::infinity();
    for (const double x : samples) {
      if (100 * at_or_below(x) >= 95 * static_cast<long>(samples.size())) {
        expected = std::min(expected, x);
      }
    }
    ASSERT_EQ(p.p95, expected);
  }
}

TEST(Percentiles, LeaveOutWhatIsNotANumber) {
  const Percentiles p = percentiles({std::nan(""), 5, std::nan("")});

  EXPECT_EQ(p.n, 1U);
  EXPECT_EQ(p.p50, 5);
}

}  // namespace
}  // namespace swarmkv
