#include "pipeline/scalars.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "pipeline/limits.h"

namespace swarmkv::internal {
namespace {

using std::chrono::milliseconds;

ScalarType type_of(const char* text, bool plain = true) {
  YamlNode node;
  node.kind = YamlNode::Kind::kText;
  node.plain = plain;
  node.text = text;
  return scalar_type(node);
}

TEST(Scalars, HaveTheTypesOfYaml12) {
  EXPECT_EQ(type_of("yes"), ScalarType::kText) << "the Norway problem";
  EXPECT_EQ(type_of("on"), ScalarType::kText);
  EXPECT_EQ(type_of("True"), ScalarType::kBool);
  EXPECT_EQ(type_of("tRue"), ScalarType::kText);
  EXPECT_EQ(type_of("true", false), ScalarType::kText);
  EXPECT_EQ(type_of("-12"), ScalarType::kInt);
  EXPECT_EQ(type_of("012"), ScalarType::kInt);
  EXPECT_EQ(type_of("0x10"), ScalarType::kText);
  EXPECT_EQ(type_of("1_000"), ScalarType::kText);
  EXPECT_EQ(type_of("1.5"), ScalarType::kFloat);
  EXPECT_EQ(type_of(".5e-3"), ScalarType::kFloat);
  EXPECT_EQ(type_of("-.inf"), ScalarType::kFloat);
  EXPECT_EQ(type_of("."), ScalarType::kText);
  EXPECT_EQ(type_of("1e"), ScalarType::kText);
}

TEST(Scalars, ParseIntegersExactlyOrNotAtAll) {
  EXPECT_EQ(parse_integer("+7"), 7);
  EXPECT_EQ(parse_integer("-7"), -7);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(parse_integer("9223372036854775808"));
  EXPECT_FALSE(parse_integer("+-7"));
  EXPECT_FALSE(parse_integer(""));
  EXPECT_FALSE(parse_integer("1.0"));
}

TEST(Scalars, ParseFiniteNumbersOnly) {
  EXPECT_EQ(parse_real("+0.5"), 0.5);
  EXPECT_EQ(parse_real("2"), 2.0);
  EXPECT_EQ(parse_real("1."), 1.0);
  EXPECT_FALSE(parse_real("1e999"));
  EXPECT_FALSE(parse_real(".inf"));
  EXPECT_FALSE(parse_real("nan"));
  EXPECT_FALSE(parse_real("0x1p3"));
}

TEST(Scalars, ParseDurations) {
  EXPECT_EQ(parse_duration("90s"), milliseconds(90'000));
  EXPECT_EQ(parse_duration("5m"), milliseconds(300'000));
  EXPECT_EQ(parse_duration("1m30s"), milliseconds(90'000));
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("1h1ms"), milliseconds(3'600'001));
  EXPECT_EQ(parse_duration("0s"), milliseconds(0));
  for (const char* bad :
       {"", "5", "s", "1.5s", "-5s", "30s1m", "1s1s", "5 s", "5S", "1m30", "1d", "9999999999s"}) {
    EXPECT_FALSE(parse_duration(bad)) << bad;
  }
}

TEST(Limits, ExistForEveryIntegerSetting) {
  for (const char* key : {"max_tokens", "top_k", "repeat_last_n", "seed", "priority", "ctx_size",
                          "n_gpu_layers", "threads", "threads_batch", "batch_size", "parallel"}) {
    EXPECT_EQ(integer_limit(key).key, key);
  }
}

TEST(Limits, NameTheWordsOfAChoice) {
  EXPECT_EQ(choices_of("flash_attn").size(), 3u);
  EXPECT_EQ(choices_of("cache_type_v").size(), 8u);
  EXPECT_EQ(choices_of("ctx_size").size(), 1u);
  EXPECT_TRUE(choices_of("seed").empty());
}

TEST(Limits, RefuseWhatIsNotANumberInEveryRealSetting) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const char* key : {"temperature", "top_p", "min_p", "repeat_penalty"}) {
    EXPECT_NE(real_problem(key, nan), "") << key;
    EXPECT_NE(real_problem(key, infinity), "") << key;
    EXPECT_NE(real_problem(key, -0.1), "") << key;
    EXPECT_EQ(real_problem(key, 0.5), "") << key;
  }
  EXPECT_EQ(real_problem("temperature", 0), "");
  EXPECT_NE(real_problem("top_p", 0), "");
  EXPECT_EQ(real_problem("top_p", 1), "");
  EXPECT_NE(real_problem("min_p", 1), "");
  EXPECT_NE(real_problem("repeat_penalty", 0), "");
}

}  // namespace
}  // namespace swarmkv::internal
