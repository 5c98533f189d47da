#include "text/nearest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace swarmkv::internal {
namespace {

TEST(Nearest, CountsEdits) {
  EXPECT_EQ(edit_distance("prompt", "prompt", 3), 0U);
  EXPECT_EQ(edit_distance("promt", "prompt", 3), 1U);
  EXPECT_EQ(edit_distance("prmopt", "prompt", 3), 1U) << "two neighbours swapped";
  EXPECT_EQ(edit_distance("", "abc", 3), 3U);
  EXPECT_EQ(edit_distance("abc", "", 3), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting", 3), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting", 2), 3U) << "limit + 1";
  EXPECT_EQ(edit_distance("ab", "cd", 0), 1U);
}

// The whole table, as the definition has it.
std::size_t plain_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

TEST(Nearest, AgreesWithTheWholeTableUpToItsLimit) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto word = [&] {
    std::string text(random() % 8, ' ');
    for (char& c : text) c = static_cast<char>('a' + random() % 3);
    return text;
  };

  for (int i = 0; i < 20000; ++i) {
    const std::string a = word(), b = word();
    const std::size_t limit = random() % 5;
    ASSERT_EQ(edit_distance(a, b, limit), std::min(plain_distance(a, b), limit + 1))
        << a << " " << b << " " << limit;
  }
}

TEST(Nearest, SuggestsWhatWasProbablyMeant) {
  const std::vector<std::string> keys = {"max_tokens", "temperature", "top_k", "top_p", "needs"};

  EXPECT_EQ(nearest_name("max_token", keys), "max_tokens");
  EXPECT_EQ(nearest_name("tempreature", keys), "temperature");
  EXPECT_EQ(nearest_name("Needs", keys), "needs");
  EXPECT_EQ(nearest_name("top", keys), std::nullopt) << "two edits away from top_k";
  EXPECT_EQ(nearest_name("top_q", keys), "top_k") << "of equally near ones the first";
}

TEST(Nearest, SuggestsNothingWhenNothingIsNear) {
  const std::vector<std::string> keys = {"a", "documents"};

  EXPECT_EQ(nearest_name("sampling", keys), std::nullopt);
  EXPECT_EQ(nearest_name("b", keys), std::nullopt) << "one letter is no slip for another";
  EXPECT_EQ(nearest_name("", keys), std::nullopt);
  EXPECT_EQ(nearest_name("x", std::vector<std::string>{}), std::nullopt);
}

}  // namespace
}  // namespace swarmkv::internal
