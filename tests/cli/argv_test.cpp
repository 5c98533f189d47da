#include "cli/argv.h"

#include <gtest/gtest.h>

#include <set>

#include "cli/flags.h"

namespace swarmkv::cli {
namespace {

using Words = std::vector<std::string>;

TEST(Argv, RewritesShortFlagsOfSeveralLetters) {
  EXPECT_EQ(rewrite_args({"-ngl", "99", "-np", "4"}).words,
            (Words{"--n-gpu-layers", "99", "--parallel", "4"}));
  EXPECT_EQ(rewrite_args({"-ngl=99", "-ctk=q8_0"}).words,
            (Words{"--n-gpu-layers", "99", "--cache-type-k", "q8_0"}));
}

TEST(Argv, KnowsSingleLettersAloneWithValuesAndInOneWord) {
  EXPECT_EQ(rewrite_args({"-n", "5"}).words, (Words{"--predict", "5"}));
  EXPECT_EQ(rewrite_args({"-n5"}).words, (Words{"--predict", "5"}));
  EXPECT_EQ(rewrite_args({"-n=5"}).words, (Words{"--predict", "5"}));
  EXPECT_EQ(rewrite_args({"-qn", "5"}).words, (Words{"--quiet", "--predict", "5"}));
}

TEST(Argv, LeavesValuesAloneThatLookLikeFlags) {
  EXPECT_EQ(rewrite_args({"--system", "-ngl", "--stop=-np"}).words,
            (Words{"--system", "-ngl", "--stop", "-np"}));
  EXPECT_EQ(rewrite_args({"--system", "--", "-q"}).words, (Words{"--system", "--", "--quiet"}));
  EXPECT_EQ(rewrite_args({"--temp", "-1"}).words, (Words{"--temp", "-1"}));
}

TEST(Argv, TouchesNothingBehindTheDashes) {
  const RewrittenArgs args = rewrite_args({"-q", "--", "-ngl", "--", "-np=3"});

  EXPECT_EQ(args.words, (Words{"--quiet"}));
  EXPECT_EQ(args.after_dashes, (Words{"-ngl", "--", "-np=3"}));
}

TEST(Argv, TakesTextWithADashForText) {
  const Words plain = {"-", "- a list", "-5 degrees", "[a,b]", "", "a=b"};

  EXPECT_EQ(rewrite_args(plain).words, plain);
}

TEST(Argv, KeepsEmptyValuesAndValuesWithEqualsSigns) {
  EXPECT_EQ(rewrite_args({"--system="}).words, (Words{"--system", ""}));
  EXPECT_EQ(rewrite_args({"--stop=a=b"}).words, (Words{"--stop", "a=b"}));
}

TEST(Argv, LeavesUnknownFlagsForTheMessage) {
  EXPECT_EQ(rewrite_args({"-xyz", "--tempp=3"}).words, (Words{"-xyz", "--tempp=3"}));
}

TEST(Argv, DoesNotTakeAnotherProgramsFlagForLettersOfOurs) {
  const Words theirs = {"-hf", "-sm", "-fit", "-mg", "-qh"};

  EXPECT_EQ(rewrite_args(theirs).words, theirs);
}

TEST(Flags, HaveOneMeaningEach) {
  std::set<std::string> seen;
  const auto once = [&seen](const std::string& spelling) {
    EXPECT_TRUE(seen.insert(spelling).second) << spelling << " means two things";
  };
  for (const Flag& flag : flags()) {
    once("--" + std::string(flag.name));
    if (!flag.other_name.empty()) once("--" + std::string(flag.other_name));
    if (!flag.alias.empty()) once("-" + std::string(flag.alias));
    if (flag.letter != 0) once(std::string("-") + flag.letter);
  }
}

}  // namespace
}  // namespace swarmkv::cli
