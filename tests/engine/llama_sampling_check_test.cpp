#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "engine/sampling_check.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

TEST(SamplingCheck, AcceptsTheDefaultsAndTheEndsOfEveryRange) {
  check_sampling(Sampling{});
  Sampling ends;
  ends.temperature = 100.0;
  ends.top_k = 0;
  ends.top_p = 1.0;
  ends.min_p = 0.0;
  ends.repeat_penalty = 0.01;
  ends.repeat_last_n = 0;
  check_sampling(ends);
}

TEST(SamplingCheck, NamesTheFieldAndTheValueItRefuses) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  struct Case {
    std::string field, value;
    std::function<void(Sampling&)> set;
  };
  const Case cases[] = {
      {"temperature", "-1", [](Sampling& s) { s.temperature = -1; }},
      {"temperature", "nan", [](Sampling& s) { s.temperature = kNan; }},
      {"temperature", "inf", [](Sampling& s) { s.temperature = kInf; }},
      {"top_k", "-1", [](Sampling& s) { s.top_k = -1; }},
      {"top_p", "0", [](Sampling& s) { s.top_p = 0; }},
      {"top_p", "1.5", [](Sampling& s) { s.top_p = 1.5; }},
      {"top_p", "nan", [](Sampling& s) { s.top_p = kNan; }},
      {"min_p", "1", [](Sampling& s) { s.min_p = 1; }},
      {"min_p", "-0.5", [](Sampling& s) { s.min_p = -0.5; }},
      {"repeat_penalty", "0", [](Sampling& s) { s.repeat_penalty = 0; }},
      {"repeat_penalty", "inf", [](Sampling& s) { s.repeat_penalty = kInf; }},
      {"repeat_last_n", "-2", [](Sampling& s) { s.repeat_last_n = -2; }},
  };
  for (const Case& wrong : cases) {
    Sampling sampling;
    wrong.set(sampling);
    try {
      check_sampling(sampling);
      ADD_FAILURE() << wrong.field << " = " << wrong.value << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      const std::string what = error.what();
      EXPECT_NE(what.find(wrong.field), std::string::npos) << what;
      EXPECT_NE(what.find("got " + wrong.value), std::string::npos) << what;
    }
  }
}

}  // namespace
}  // namespace swarmkv::internal
