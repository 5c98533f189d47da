#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "cli/flags.h"
#include "cli/help_text.h"
#include "cli/parse.h"
#include "support/golden.h"
#include "swarmkv/engine.h"

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

TEST(Help, OfACommandFitsATerminalAndLeavesRoomForThePrompt) {
  constexpr int kRows = 24 - 1;
  std::vector<std::string> pages = command_names();
  pages.emplace_back("");
  for (const std::string& page : pages) {
    const std::string text = help_screen(page);
    ASSERT_FALSE(text.empty()) << page;
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), kRows) << page;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 79U) << page << ": " << line;
    }
    // Whoever misses a flag is told where all of them stand.
    if (text != help_text(page)) {
      EXPECT_NE(text.find("swarmkv help " + page), std::string::npos) << page;
    }
  }
}

TEST(Help, NamesNoFlagOnAScreenThatTheCommandDoesNotTake) {
  for (std::size_t i = 0; i < command_names().size(); ++i) {
    const std::string text = help_screen(command_names()[i]);
    for (std::size_t at = 0; (at = text.find(" --", at)) != std::string::npos; ++at) {
      const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at + 3);
      const std::string name = text.substr(at + 1, end - at - 1);
      const Flag* flag = find_flag(name);
      ASSERT_NE(flag, nullptr) << name;
      if (command_names()[i] != "help") {
        EXPECT_NE(flag->commands & (1U << i), 0U) << command_names()[i] << " " << name;
      }
    }
  }
}

TEST(Help, TellsOfEveryWordBehindSnapshot) {
  for (const std::string& verb : snapshot_verbs()) {
    EXPECT_NE(help_text("snapshot").find("\n  " + verb + " "), std::string::npos) << verb;
    EXPECT_NE(help_screen("snapshot").find("\n  " + verb + " "), std::string::npos) << verb;
  }
}

TEST(Help, ListsEveryCommandOnTheFirstPage) {
  for (const std::string& command : command_names()) {
    EXPECT_NE(help_text("").find("  swarmkv " + command), std::string::npos) << command;
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

// A row of docs/command_line.md: flag, also, commands, variable, default, meaning.
using Row = std::vector<std::string>;

// The words of a cell, without the marks around them.
std::set<std::string> words_of(const std::string& cell) {
  std::set<std::string> words;
  std::string word;
  for (const char c : cell + ' ') {
    if (c != ' ' && c != ',' && c != '`') {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, ""));
    }
  }
  return words;
}

std::map<std::string, Row> documented_flags() {
  std::ifstream page(swarmkv::testing::golden_path("../../docs/command_line.md"));
  EXPECT_TRUE(page) << "docs/command_line.md is not there";
  std::map<std::string, Row> rows;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `--")) continue;
    Row row;
    std::istringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(cell);
    const std::string name = row[0].substr(2, row[0].find_first_of(" `", 2) - 2);
    EXPECT_TRUE(rows.emplace(name, row).second) << name << " stands there twice";
  }
  return rows;
}

TEST(Help, TheDocumentedFlagsAreThoseOfTheTable) {
  std::map<std::string, Row> rows = documented_flags();
  for (const Flag& flag : flags()) {
    const std::string name = "--" + std::string(flag.name);
    if (!flag.shown) {
      EXPECT_EQ(rows.count(name), 0U) << name << " is for tests";
      continue;
    }
    ASSERT_EQ(rows.count(name), 1U) << name << " is missing";
    const Row& row = rows.at(name);
    ASSERT_EQ(row.size(), 6U) << name;

    std::set<std::string> also, commands, variable;
    if (flag.letter != 0) also.insert(std::string("-") + flag.letter);
    if (!flag.alias.empty()) also.insert("-" + std::string(flag.alias));
    if (!flag.other_name.empty()) also.insert("--" + std::string(flag.other_name));
    for (std::size_t i = 0; i < command_names().size(); ++i) {
      if ((flag.commands & (1U << i)) != 0) commands.insert(command_names()[i]);
    }
    if (flag.environment) variable.insert(environment_name(flag));
    EXPECT_EQ(words_of(row[1]), also) << name;
    EXPECT_EQ(words_of(row[2]), commands) << name;
    EXPECT_EQ(words_of(row[3]), variable) << name;
    EXPECT_EQ(row[0].find(' ', 3) != row[0].size() - 1, flag.takes_value()) << name;
    EXPECT_EQ(row[5].find("*repeatable*") != std::string::npos,
              flag.kind == Flag::Kind::kList && flag.name != "file")
        << name;
    rows.erase(name);
  }
  for (const auto& [name, row] : rows) ADD_FAILURE() << "there is no flag " << name;
}

TEST(Help, TheDocumentedDefaultsAreTheRealOnes) {
  const std::map<std::string, Row> rows = documented_flags();
  const auto number = [](double value) {
    std::ostringstream text;
    text << value;
    return text.str();
  };
  const EngineOptions engine;
  const AgentSpec agent;
  const Settings settings;
  const std::map<std::string, std::string> defaults = {
      {"--batch-size", number(engine.batch_size)},
      {"--cache-type-k", engine.cache_type_k},
      {"--cache-type-v", engine.cache_type_v},
      {"--flash-attn", engine.flash_attn},
      {"--attention", engine.attention},
      {"--predict", number(agent.max_tokens)},
      {"--temp", number(agent.sampling.temperature)},
      {"--top-k", number(agent.sampling.top_k)},
      {"--top-p", number(agent.sampling.top_p)},
      {"--min-p", number(agent.sampling.min_p)},
      {"--repeat-penalty", number(agent.sampling.repeat_penalty)},
      {"--seed", number(agent.sampling.seed)},
      {"--template-date", RunOptions().template_date},
      {"--engine", settings.engine},
      {"--output", settings.output},
      {"--print", settings.print},
      {"--progress", settings.progress},
      {"--color", settings.color},
      {"--snapshot", "off"},
      {"--snapshot-limit",
       number(static_cast<double>(SnapshotOptions().limit_bytes >> 30)) + "GiB"}};
  for (const auto& [name, value] : defaults) {
    ASSERT_EQ(rows.count(name), 1U) << name;
    EXPECT_EQ(words_of(rows.at(name)[4]), std::set<std::string>{value}) << name;
  }
}

TEST(Help, LooksLikeTheGoldenPages) {
  swarmkv::testing::expect_golden("cli/help.txt", help_text(""));
  swarmkv::testing::expect_golden("cli/help_ask.txt", help_text("ask"));
}

}  // namespace
}  // namespace swarmkv::cli
