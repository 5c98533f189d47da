#include "cli/terminal.h"

#include <gtest/gtest.h>

#include <map>

namespace swarmkv::cli {
namespace {

Environment with(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(Terminal, DecidesColourByFlagThenNoColorThenForceThenScreen) {
  EXPECT_TRUE(use_color("always", with({{"NO_COLOR", "1"}}), false));
  EXPECT_FALSE(use_color("never", with({{"CLICOLOR_FORCE", "1"}}), true));
  EXPECT_FALSE(use_color("auto", with({{"NO_COLOR", "1"}, {"CLICOLOR_FORCE", "1"}}), true));
  EXPECT_TRUE(use_color("auto", with({{"CLICOLOR_FORCE", "1"}}), false));
  EXPECT_FALSE(use_color("auto", with({{"CLICOLOR_FORCE", "0"}}), false));
  EXPECT_TRUE(use_color("auto", with({{"TERM", "xterm"}}), true));
  EXPECT_FALSE(use_color("auto", with({}), true)) << "nobody knows what this terminal can do";
  EXPECT_FALSE(use_color("auto", with({}), false));
  EXPECT_FALSE(use_color("auto", with({{"TERM", "dumb"}}), true));
}

TEST(Terminal, RedrawsOnlyWhereThatCanWork) {
  EXPECT_EQ(progress_mode("auto", false, with({{"TERM", "xterm"}}), true), ProgressMode::kTty);
  EXPECT_EQ(progress_mode("auto", false, with({}), true), ProgressMode::kPlain);
  EXPECT_EQ(progress_mode("auto", false, with({}), false), ProgressMode::kPlain);
  EXPECT_EQ(progress_mode("auto", false, with({{"TERM", "dumb"}}), true), ProgressMode::kPlain);
  EXPECT_EQ(progress_mode("tty", false, with({{"TERM", "dumb"}}), true), ProgressMode::kPlain);
  EXPECT_EQ(progress_mode("tty", false, with({{"TERM", "xterm"}}), false), ProgressMode::kTty);
  const auto in_ci = [](const char* value) { return with({{"TERM", "xterm"}, {"CI", value}}); };
  EXPECT_EQ(progress_mode("auto", false, in_ci("true"), true), ProgressMode::kPlain);
  EXPECT_EQ(progress_mode("auto", false, in_ci("false"), true), ProgressMode::kTty);
  EXPECT_EQ(progress_mode("auto", false, in_ci("0"), true), ProgressMode::kTty);
  EXPECT_EQ(progress_mode("tty", false, in_ci("true"), true), ProgressMode::kTty);
  EXPECT_EQ(progress_mode("none", false, with({}), true), ProgressMode::kNone);
  EXPECT_EQ(progress_mode("tty", true, with({}), true), ProgressMode::kNone) << "quiet wins";
}

}  // namespace
}  // namespace swarmkv::cli
