#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cli/flags.h"
#include "cli/help_text.h"
#include "cli/parse.h"
#include "support/golden.h"

namespace swarmkv::cli {
namespace {

TEST(Help, FitsAScreen) {
  std::vector<std::string> pages = command_names();
  pages.emplace_back("");
  for (const std::string& page : pages) {
    const std::string text = help_text(page);
    ASSERT_FALSE(text.empty()) << page;
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 50) << page;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80U) << page << ": " << line;
    }
  }
}

TEST(Help, ShowsEveryFlagOfEveryCommandAndNoOther) {
  for (std::size_t i = 0; i < command_names().size(); ++i) {
    const std::string& command = command_names()[i];
    if (command == "version" || command == "help") continue;
    const std::string text = help_text(command);
    for (const Flag& flag : flags()) {
      const bool taken = (flag.commands & (1U << i)) != 0 && flag.shown;
      // "--temp" must not be found in "--template-date".
      const std::string name = "--" + std::string(flag.name);
      bool found = false;
      for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += name.size()) {
        const char next = text[at + name.size()];
        found = found || !(std::isalnum(static_cast<unsigned char>(next)) || next == '-');
      }
      if (taken || flag.name != "strict") {
        EXPECT_EQ(found, taken) << command << " " << name;
      }
    }
  }
}

TEST(Help, MarksWhatDiffersFromLlamaCpp) {
  for (const char* flag : {"--ctx-size N     *", "--parallel N    *", "--predict N      *",
                           "--temp T             *"}) {
    EXPECT_NE(help_text("run").find(flag), std::string::npos) << flag;
  }
}

TEST(Help, LooksLikeTheGoldenPages) {
  swarmkv::testing::expect_golden("cli/help.txt", help_text(""));
  swarmkv::testing::expect_golden("cli/help_ask.txt", help_text("ask"));
}

}  // namespace
}  // namespace swarmkv::cli
