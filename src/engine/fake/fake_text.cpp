#include "engine/fake/fake_text.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "engine/fake/fake_vocab.h"

namespace swarmkv::internal {
namespace {

constexpr std::string_view kVowels = "aeiou";
constexpr std::string_view kConsonants = "bcdfghklmnprstvw";
// Characters of two, three and four bytes: each of their bytes is a token of its own.
constexpr std::array<std::string_view, 4> kWide = {"\xc3\xa9", "\xc3\xbc", "\xe2\x82\xac",
                                                   "\xf0\x9f\x8c\xb1"};

int lead_length(Token token) {
  if (token >= 0xc2 && token <= 0xdf) return 2;
  if (token >= 0xe0 && token <= 0xef) return 3;
  if (token >= 0xf0 && token <= 0xf4) return 4;
  return 1;
}

bool is_continuation(Token token) { return token >= 0x80 && token <= 0xbf; }

// The byte that goes on with a character begun at the end of `tail`, if one is open.
std::optional<Token> open_character(std::span<const Token> tail) {
  std::size_t n_back = 0;
  while (n_back < tail.size() && n_back < 3 && is_continuation(tail[tail.size() - 1 - n_back])) {
    ++n_back;
  }
  if (n_back == tail.size()) return std::nullopt;
  const std::span<const Token> begun = tail.subspan(tail.size() - 1 - n_back);
  if (lead_length(begun[0]) <= static_cast<int>(begun.size())) return std::nullopt;
  for (const std::string_view wide : kWide) {
    const bool fits = wide.size() > begun.size() &&
                      std::equal(begun.begin(), begun.end(), wide.begin(), [](Token t, char c) {
                        return t == static_cast<unsigned char>(c);
                      });
    if (fits) return static_cast<unsigned char>(wide[begun.size()]);
  }
  // A lead byte that came from elsewhere: any byte that keeps the character valid.
  if (begun.size() == 1 && (begun[0] == 0xe0 || begun[0] == 0xf0)) return 0xa0;
  return 0x80;
}

bool is_letter(Token token) { return (token >= 'a' && token <= 'z') || is_continuation(token); }

bool is_vowel(Token token) {
  return token < 128 && kVowels.find(static_cast<char>(token)) != std::string_view::npos;
}

Token pick(std::string_view from, std::uint64_t r) {
  return static_cast<unsigned char>(from[r % from.size()]);
}

}  // namespace

Token fake_next_token(std::uint64_t hash, std::span<const Token> tail, int eog_every) {
  if (const auto open = open_character(tail)) return *open;
  const std::uint64_t end_draw = fake_mix(hash ^ 0x1d);
  if (eog_every > 0 && end_draw % static_cast<std::uint64_t>(eog_every) == 0) return kFakeEndTurn;

  std::size_t n_letters = 0;
  while (n_letters < tail.size() && is_letter(tail[tail.size() - 1 - n_letters])) ++n_letters;
  const Token last = tail.empty() ? kFakeStart : tail.back();
  const std::uint64_t r = fake_mix(hash), kind = r % 32, draw = r >> 8;
  if (last == ',') return ' ';
  if (last == '.') return kind < 8 ? '\n' : ' ';
  if (n_letters >= 2 && (kind < 7 || n_letters >= 8)) {
    constexpr std::string_view kEnds = "              ,.";
    return pick(kEnds, draw);
  }
  if (kind == 31) return static_cast<unsigned char>(kWide[draw % kWide.size()][0]);
  if (n_letters == 0) return pick("abcdefghiklmnoprstuvw", draw);
  return kind % 8 == 0 || !is_vowel(last) ? pick(kVowels, draw) : pick(kConsonants, draw);
}

std::optional<Token> fake_forced_token(const std::vector<FakeOptions::Forced>& forced,
                                       std::span<const Token> visible) {
  if (forced.empty()) return std::nullopt;
  Tokens marker = {kFakeTurn};
  for (const char c : kFakeGenerationPrompt) marker.push_back(static_cast<unsigned char>(c));
  const auto at = std::find_end(visible.begin(), visible.end(), marker.begin(), marker.end());
  const bool has_marker = at != visible.end();
  const auto n_prompt =
      has_marker ? static_cast<std::size_t>(at - visible.begin()) + marker.size() : visible.size();
  const std::string prompt = fake_text(visible.first(n_prompt));
  const std::string written = fake_text(visible.subspan(n_prompt));
  for (const FakeOptions::Forced& f : forced) {
    if (prompt.find(f.when) == std::string::npos) continue;
    std::size_t done = written.size();
    if (has_marker) {
      // Going on past the answer's end (end of generation ignored) is ordinary text again.
      if (std::string_view(f.answer).substr(0, done) != written) return std::nullopt;
    } else {
      done = std::min(f.answer.size(), prompt.size());
      while (!std::string_view(prompt).ends_with(std::string_view(f.answer).substr(0, done)))
        --done;
    }
    if (done == f.answer.size()) return kFakeEndTurn;
    return static_cast<unsigned char>(f.answer[done]);
  }
  return std::nullopt;
}

}  // namespace swarmkv::internal
