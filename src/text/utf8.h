// UTF-8 from untrusted sources: what is broken, what is unfinished, and what a terminal may be
// shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace swarmkv::internal {

inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";  // U+FFFD

/// What stands at one place of a text. `length` >= 1: an invalid step covers the longest part that
/// could have begun a character, as Unicode recommends, so that one broken character gives one
/// replacement.
struct Utf8Step {
  enum class Kind { kValid, kInvalid, kUnfinished } kind = Kind::kInvalid;
  std::size_t length = 1;
  char32_t code_point = 0;  ///< kValid only
};
/// `at` < text.size(). kUnfinished: the text ends inside of a character that is right so far.
[[nodiscard]] Utf8Step utf8_step(std::string_view text, std::size_t at);

/// Bytes of an unfinished character at the end, 0 to 3.
[[nodiscard]] std::size_t incomplete_tail(std::string_view text);

/// Valid characters kept, invalid or unfinished ones replaced by U+FFFD.
[[nodiscard]] std::string sanitize_utf8(std::string_view text);

struct ByteProblems {
  std::size_t n_invalid = 0;  ///< bytes that belong to no character
  std::size_t n_nul = 0;
  std::size_t first_offset = 0;  ///< of the first of either; meaningful if there is one

  [[nodiscard]] bool any() const { return n_invalid + n_nul > 0; }
};
[[nodiscard]] ByteProblems find_problem_bytes(std::string_view text);

/// For terminals: everything that could move the cursor, start an escape sequence or reorder what
/// is read (C0 except newline and tab, DEL, C1, bidirectional controls) and invalid bytes, shown as
/// \x1b or \u202e.
[[nodiscard]] std::string escape_control(std::string_view text);

}  // namespace swarmkv::internal
