#include "pipeline/names.h"

#include <gtest/gtest.h>

#include <string>

namespace swarmkv::internal {
namespace {

TEST(Names, AllowLowerCaseDigitsAndUnderscoreUpTo64Characters) {
  EXPECT_TRUE(has_name_form("a"));
  EXPECT_TRUE(has_name_form("risk_2"));
  EXPECT_TRUE(has_name_form(std::string(64, 'a')));

  EXPECT_FALSE(has_name_form(""));
  EXPECT_FALSE(has_name_form(std::string(65, 'a')));
  EXPECT_FALSE(has_name_form("2nd"));
  EXPECT_FALSE(has_name_form("_x"));
  EXPECT_FALSE(has_name_form("Risk"));
  EXPECT_FALSE(has_name_form("a-b"));
  EXPECT_FALSE(has_name_form("a b"));
  EXPECT_FALSE(has_name_form("caf\xc3\xa9"));
  EXPECT_FALSE(has_name_form(std::string("a\0b", 3)));
}

TEST(Names, ReserveTheWordsTemplatesNeed) {
  EXPECT_TRUE(is_reserved_name("vars"));
  EXPECT_TRUE(is_reserved_name("documents"));
  EXPECT_TRUE(is_reserved_name("agents"));
  EXPECT_FALSE(is_reserved_name("document"));
}

}  // namespace
}  // namespace swarmkv::internal
