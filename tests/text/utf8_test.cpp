#include "text/utf8.h"

#include <gtest/gtest.h>

namespace swarmkv::internal {
namespace {

const std::string kMark(kReplacementCharacter);

TEST(Utf8, FindsTheUnfinishedCharacterAtTheEnd) {
  EXPECT_EQ(incomplete_tail(""), 0U);
  EXPECT_EQ(incomplete_tail("abc"), 0U);
  EXPECT_EQ(incomplete_tail("a\xc3"), 1U);
  EXPECT_EQ(incomplete_tail("a\xc3\xa9"), 0U);
  EXPECT_EQ(incomplete_tail("\xe2\x82"), 2U);
  EXPECT_EQ(incomplete_tail("\xf0\x9f\x8c"), 3U);
  EXPECT_EQ(incomplete_tail("\xf0\x9f\x8c\xb1"), 0U);
}

TEST(Utf8, DoesNotWaitForACharacterThatIsAlreadyBroken) {
  EXPECT_EQ(incomplete_tail("\xff"), 0U);
  EXPECT_EQ(incomplete_tail("\xc0"), 0U) << "overlong";
  EXPECT_EQ(incomplete_tail("\xe0\x80"), 0U) << "overlong";
  EXPECT_EQ(incomplete_tail("\xed\xa0"), 0U) << "a surrogate";
  EXPECT_EQ(incomplete_tail("\xf4\x90"), 0U) << "beyond U+10FFFF";
  EXPECT_EQ(incomplete_tail("a\x82\x82\x82"), 0U) << "only continuations";
}

TEST(Utf8, ReplacesBrokenPartsAndKeepsTheRest) {
  EXPECT_EQ(sanitize_utf8("plain \xc3\xa9 \xf0\x9f\x8c\xb1"), "plain \xc3\xa9 \xf0\x9f\x8c\xb1");
  EXPECT_EQ(sanitize_utf8("a\xff"
                          "b"),
            "a" + kMark + "b");
  EXPECT_EQ(sanitize_utf8("\xe2\x82"
                          "b"),
            kMark + "b")
      << "one broken character, one mark";
  EXPECT_EQ(sanitize_utf8("\xe2\x82"), kMark);
  EXPECT_EQ(sanitize_utf8("\xed\xa0\x80"), kMark + kMark + kMark) << "surrogates have no lead byte";
  EXPECT_EQ(sanitize_utf8(std::string("a\0b", 3)), std::string("a\0b", 3));
}

TEST(Utf8, MakesEveryPairOfBytesValid) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string text = {static_cast<char>(a), static_cast<char>(b), 'x'};
      const std::string clean = sanitize_utf8(text);
      ASSERT_EQ(find_problem_bytes(clean).n_invalid, 0U) << a << " " << b;
      ASSERT_TRUE(clean.ends_with("x")) << a << " " << b << ": a byte of its own was swallowed";
      ASSERT_EQ(find_problem_bytes(text).n_invalid == 0, clean == text) << a << " " << b;
    }
  }
}

TEST(Utf8, CountsProblemBytesAndNamesTheFirst) {
  const auto none = find_problem_bytes("fine \xc3\xa9");
  const auto some =
      find_problem_bytes(std::string("ab\0\xff"
                                     "c\xe2\x82",
                                     7));

  EXPECT_FALSE(none.any());
  EXPECT_EQ(some.n_nul, 1U);
  EXPECT_EQ(some.n_invalid, 3U);
  EXPECT_EQ(some.first_offset, 2U);
}

TEST(Utf8, ShowsControlCharactersInsteadOfObeyingThem) {
  EXPECT_EQ(escape_control("a\n\tb"), "a\n\tb");
  EXPECT_EQ(escape_control("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(escape_control("\r\b\x7f"), "\\x0d\\x08\\x7f");
  EXPECT_EQ(escape_control(std::string(1, '\0')), "\\x00");
  EXPECT_EQ(escape_control("\xc2\x9b"
                           "2J"),
            "\\u009b2J")
      << "C1: one-character escape sequence";
  EXPECT_EQ(escape_control("\x9b"
                           "2J"),
            "\\x9b2J")
      << "the same as a raw byte";
  EXPECT_EQ(escape_control("\xe2\x80\xae"), "\\u202e") << "right-to-left override";
  EXPECT_EQ(escape_control("\xe2\x81\xa6"), "\\u2066");
  EXPECT_EQ(escape_control("\xc3\xa9 \xe2\x82\xac"), "\xc3\xa9 \xe2\x82\xac");
}

}  // namespace
}  // namespace swarmkv::internal
