#include <gtest/gtest.h>

#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace {

TEST(ResolvePath, StartsRelativePathsAtTheFolder) {
  EXPECT_EQ(resolve_path(".", "a.txt"), "./a.txt");
  EXPECT_EQ(resolve_path("reviews/2026", "../a.txt"), "reviews/2026/../a.txt");
  EXPECT_EQ(resolve_path("", "a.txt"), "a.txt");
}

TEST(ResolvePath, LeavesAbsolutePathsAndStandardInputAlone) {
  EXPECT_EQ(resolve_path("reviews", "/tmp/a.txt"), "/tmp/a.txt");
  EXPECT_EQ(resolve_path("reviews", "-"), "-");
}

}  // namespace
}  // namespace swarmkv
