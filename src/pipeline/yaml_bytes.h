// What is checked on a pipeline file's bytes before a YAML parser sees them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace swarmkv::internal {

struct BadByte {
  std::size_t offset;
  std::string what, hint;
};

/// The first byte that is not UTF-8, or a control character YAML forbids. (Byte 4 would otherwise
/// end the file silently in the YAML library we use, and bytes 0 switch it to UTF-16.)
std::optional<BadByte> find_bad_byte(std::string_view text);

/// Length of a leading byte order mark: 0 or 3.
std::size_t byte_order_mark_length(std::string_view text);

/// The YAML library ends an unquoted text in [ ] or { } at every '?', although only a '?' at its
/// beginning means anything there. Prompts are questions, so those that cannot be meant are hidden
/// from it (same length), and unhidden in what comes back. The byte used for it is one that
/// find_bad_byte() refuses.
std::string hide_question_marks(std::string_view text);
std::string unhide_question_marks(std::string text);

/// Where the quoted text that starts at `offset` (anchor allowed in front) ends, its closing quote
/// included; empty if it is never closed. The YAML library takes the end of the file for the
/// closing quote.
std::optional<std::size_t> find_quote_end(std::string_view text, std::size_t offset);

}  // namespace swarmkv::internal
