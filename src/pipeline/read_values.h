// Strict readings of one value: what is not exactly what the key wants is reported, not converted.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/read_context.h"

namespace swarmkv::internal {

// Each is empty after an error, which names the key, what was expected and what was found.

std::optional<std::string> read_text(const ReadContext& context, const Entry& entry);
/// A text, or that of the file which file:// names.
struct FileOrText {
  std::string text;
  std::string path;  ///< of the file; empty: the text stands in the pipeline
};
std::optional<FileOrText> read_text_or_file(const ReadContext& context, const Entry& entry);
std::optional<bool> read_bool(const ReadContext& context, const Entry& entry);
/// Within integer_limit(key).
std::optional<std::int64_t> read_integer(const ReadContext& context, const Entry& entry);
/// As read_integer, or one of `words`, which answers its index in `word`.
struct IntegerOrWord {
  std::int64_t value = 0;
  std::optional<std::size_t> word;
};
std::optional<IntegerOrWord> read_integer_or_word(const ReadContext& context, const Entry& entry,
                                                  std::span<const std::string> words);
/// Checked by real_problem(key).
std::optional<double> read_real(const ReadContext& context, const Entry& entry);
std::optional<std::chrono::milliseconds> read_duration(const ReadContext& context,
                                                       const Entry& entry);
/// One of `choices`, with a suggestion for a slip.
std::optional<std::string> read_choice(const ReadContext& context, const Entry& entry,
                                       std::span<const std::string> choices);
/// What a list holds, in words: "text", "texts".
struct ListWords {
  const char* one = "text";
  const char* many = "texts";
  const char* hint = "";  ///< for what is neither; "": what its type suggests
};
/// Nodes of a list of texts; a single text counts as a list of one.
std::optional<std::vector<const YamlNode*>> read_text_list(const ReadContext& context,
                                                           const Entry& entry,
                                                           const ListWords& words = {});

/// "'max_tokens' must be a whole number, found the text '500'" [SK104].
void wrong_type(const ReadContext& context, const Entry& entry, std::string_view expected,
                std::string hint = "");

}  // namespace swarmkv::internal
