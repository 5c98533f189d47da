// Just enough of a JSON reader for schemas, without the compile time of a full library.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swarmkv::internal {

/// A parsed value that remembers its own source text.
struct MiniJson {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  std::string_view source;  ///< of exactly this value; points into the parsed text
  double number = 0;
  std::string string;             ///< decoded
  std::vector<MiniJson> items;    ///< of an array; of an object its values, in file order
  std::vector<std::string> keys;  ///< of an object: keys[i] belongs to items[i]

  [[nodiscard]] const MiniJson* find(std::string_view key) const;
};

/// Nothing if the text is not one JSON value; nesting is limited to 64 levels.
[[nodiscard]] std::optional<MiniJson> parse_mini_json(std::string_view text);
/// Appends what the JSON string at `at` means, and moves `at` behind it. False if there is none.
[[nodiscard]] bool read_mini_json_string(std::string_view text, std::size_t& at, std::string& out);
/// The text as a JSON string with quotes.
[[nodiscard]] std::string mini_json_string(std::string_view text);

}  // namespace swarmkv::internal
