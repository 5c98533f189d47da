#include "cli/model_log.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace swarmkv::cli {
namespace {

// One message of each of ggml's levels, some of which go on.
std::string shown(bool verbose, std::optional<int> verbosity) {
  Settings settings;
  settings.verbose = verbose;
  settings.verbosity = verbosity;
  std::string out;
  const auto log = model_log(settings, [&out](std::string_view text) { out += text; });
  if (!log) return "no log";
  log(1, "debug");
  log(5, "+ ");
  log(2, "info");
  log(5, "+ ");
  log(3, "warning ");
  log(4, "error");
  log(5, "+ ");
  log(0, "plain");
  return out;
}

TEST(ModelLog, ShowsWhatLlamaCppShowsAtThatThreshold) {
  EXPECT_EQ(shown(false, std::nullopt), "no log");
  EXPECT_EQ(shown(false, 0), "no log");
  EXPECT_EQ(shown(false, 1), "error+ plain");
  EXPECT_EQ(shown(false, 2), "warning error+ plain");
  EXPECT_EQ(shown(false, 3), "warning error+ plain");
  EXPECT_EQ(shown(false, 4), "info+ warning error+ plain");
  EXPECT_EQ(shown(false, 5), "debug+ info+ warning error+ plain");
  EXPECT_EQ(shown(false, 99), shown(false, 5));
  EXPECT_EQ(shown(true, std::nullopt), shown(false, 5)) << "--verbose alone is everything";
  EXPECT_EQ(shown(true, 1), shown(false, 1)) << "the number says it more exactly";
  EXPECT_EQ(shown(true, 0), "no log");
}

}  // namespace
}  // namespace swarmkv::cli
