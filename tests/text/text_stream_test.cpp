#include "text/text_stream.h"

#include <gtest/gtest.h>

#include <random>

#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

struct Outcome {
  std::vector<std::string> released;
  std::string text, stop_string;
  int n_cut_bytes = 0;
};

Outcome stream(const std::vector<std::string>& pieces, std::vector<std::string> stop = {}) {
  TextStream stream(std::move(stop));
  Outcome out;
  for (const std::string& piece : pieces) out.released.push_back(stream.push(piece));
  out.released.push_back(stream.finish());
  std::string joined;
  for (const std::string& part : out.released) joined += part;
  EXPECT_EQ(joined, stream.text()) << "the pieces are the text";
  out.text = stream.text();
  out.stop_string = stream.stop_string();
  out.n_cut_bytes = stream.n_cut_bytes();
  return out;
}

std::vector<std::string> bytes_of(const std::string& text) {
  std::vector<std::string> bytes;
  for (const char c : text) bytes.emplace_back(1, c);
  return bytes;
}

using Pieces = std::vector<std::string>;

TEST(TextStream, ReleasesAtOnceWhatIsSafe) {
  EXPECT_EQ(stream({"one ", "two"}).released, (Pieces{"one ", "two", ""}));
}

TEST(TextStream, HoldsACharacterUntilItIsWhole) {
  const auto out = stream({"a\xe2", "\x82",
                           "\xac"
                           "b"});

  EXPECT_EQ(out.released, (Pieces{"a", "",
                                  "\xe2\x82\xac"
                                  "b",
                                  ""}));
  EXPECT_EQ(out.n_cut_bytes, 0);
}

TEST(TextStream, ReportsACharacterThatWasCut) {
  // A plant, a Korean syllable and a flag of two characters, cut after every byte.
  const std::string text = "\xf0\x9f\x8c\xb1\xed\x95\x9c\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa";
  for (std::size_t n = 0; n <= text.size(); ++n) {
    const std::string cut = text.substr(0, n);

    const auto out = stream(bytes_of(cut));

    EXPECT_EQ(static_cast<std::size_t>(out.n_cut_bytes), incomplete_tail(cut));
    EXPECT_EQ(out.text, cut.substr(0, n - incomplete_tail(cut))) << "no replacement mark";
  }
}

TEST(TextStream, ReplacesInvalidBytes) {
  const std::string mark(kReplacementCharacter);

  EXPECT_EQ(stream({"a\xff"
                    "b"})
                .text,
            "a" + mark + "b");
  EXPECT_EQ(stream({"a\xe2", "b"}).released, (Pieces{"a", mark + "b", ""}));
}

TEST(TextStream, EndsBeforeAStopStringThatSpansPieces) {
  const auto out = stream({"answer E", "N", "D more", "ignored"}, {"END"});

  EXPECT_EQ(out.released, (Pieces{"answer ", "", "", "", ""}));
  EXPECT_EQ(out.stop_string, "END");
}

TEST(TextStream, GoesOnWhenAStopStringWasOnlyBegun) {
  EXPECT_EQ(stream({"E", "N", "x"}, {"END"}).released, (Pieces{"", "", "ENx", ""}));
  EXPECT_EQ(stream({"EEN", "D"}, {"END"}).text, "E") << "the second E began it";
  EXPECT_EQ(stream({"aabaa", "ab!"}, {"aabaaab"}).text, "");
  EXPECT_EQ(stream({"aabaabaaab"}, {"aabaaab"}).text, "aab") << "overlaps with itself";
}

TEST(TextStream, ReleasesABegunStopStringAtTheEnd) {
  const auto out = stream({"the EN"}, {"END"});

  EXPECT_EQ(out.released, (Pieces{"the ", "EN"}));
  EXPECT_EQ(out.stop_string, "");
}

TEST(TextStream, TakesTheStopStringThatIsCompleteFirst) {
  EXPECT_EQ(stream({"xabcdy"}, {"abcd", "bc"}).stop_string, "bc");
  EXPECT_EQ(stream({"xabcdy"}, {"abcd", "bc"}).text, "xa");
  EXPECT_EQ(stream({"xabcy"}, {"bc", "abc"}).stop_string, "abc") << "of two at once the longest";
  EXPECT_EQ(stream({"xabcy"}, {"bc", "abc"}).text, "x");
}

TEST(TextStream, MatchesStopStringsOfWideCharacters) {
  const auto out = stream(bytes_of("caf\xc3\xa9\xe2\x82\xac end"), {"\xe2\x82\xac"});

  EXPECT_EQ(out.text, "caf\xc3\xa9");
  EXPECT_EQ(out.stop_string, "\xe2\x82\xac");
}

TEST(TextStream, IgnoresEmptyStopStrings) { EXPECT_EQ(stream({"text"}, {"", ""}).text, "text"); }

TEST(TextStream, SaysNothingAfterItsEnd) {
  TextStream stream;
  (void)stream.push("a");
  (void)stream.finish();

  EXPECT_EQ(stream.push("b"), "");
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(stream.text(), "a");
}

// Against the plain way: sanitise everything, then look for the stop string whose end comes first.
TEST(TextStream, AgreesWithAPlainSearchForAnyPieces) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto word = [&](std::size_t longest) {
    static const std::string alphabet[] = {"a", "b", "\xc3\xa9", "\xe2\x82\xac", "\xff"};
    std::string text;
    for (std::size_t n = random() % (longest + 1); n > 0; --n) text += alphabet[random() % 5];
    return text;
  };
  int n_stopped = 0;

  for (int round = 0; round < 5000; ++round) {
    const std::string text = word(30);
    std::vector<std::string> stop;
    for (auto n = random() % 4; n > 0; --n) stop.push_back(sanitize_utf8(word(4)));
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t n = 1 + random() % 4;
      pieces.push_back(text.substr(at, n));
      at += n;
    }
    const std::string clean = sanitize_utf8(text);
    std::size_t first_end = clean.size() + 1, begin = clean.size();
    for (const std::string& s : stop) {
      const std::size_t at = s.empty() ? std::string::npos : clean.find(s);
      if (at == std::string::npos) continue;
      const std::size_t end = at + s.size();
      if (end < first_end || (end == first_end && at < begin)) first_end = end, begin = at;
    }

    const auto out = stream(pieces, stop);

    ASSERT_EQ(out.text, clean.substr(0, begin));
    ASSERT_EQ(out.stop_string.empty(), begin == clean.size());
    n_stopped += out.stop_string.empty() ? 0 : 1;
  }
  EXPECT_GT(n_stopped, 500);
}

TEST(TextStream, ReleasesAllButTheLongestPossibleBeginning) {
  TextStream stream({"abcabd"});
  std::string seen;
  for (const char c : std::string("abcabcabcab")) seen += stream.push(std::string(1, c));

  EXPECT_EQ(seen, "abcabc") << "only 'abcab' may still become the stop string";
}

}  // namespace
}  // namespace swarmkv::internal
