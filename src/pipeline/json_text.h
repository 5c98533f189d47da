// JSON as far as pipelines need it: is this JSON, quoting a text, and a part of an answer. The only
// file of pipeline/ that knows the JSON library is behind it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swarmkv::internal {

/// What reads a schema further on may recurse; nobody nests one deeper by hand.
inline constexpr int kMaxSchemaDepth = 64;

/// Why `text` is not one JSON object, "" if it is.
[[nodiscard]] std::string json_object_problem(std::string_view text);

/// In double quotes, with escapes; broken UTF-8 is replaced.
[[nodiscard]] std::string quote_json(std::string_view text);

/// JSON text on lines of its own, for people.
[[nodiscard]] std::string indent_json(std::string_view valid_json);

/// One step from a JSON value to a part of it: a key, or a place in a list from 0 on.
struct JsonStep {
  std::string key;
  std::optional<std::size_t> index = {};

  friend bool operator==(const JsonStep&, const JsonStep&) = default;
};

/// ".json.parties[0].name"
[[nodiscard]] std::string path_text(const std::vector<JsonStep>& path);

/// What stands at a path of a JSON text.
struct JsonPart {
  enum class State { kFound, kAbsent, kNoJson } state = State::kNoJson;
  std::string value;     ///< a text as it is meant; anything else as JSON without spaces
  bool is_text = false;  ///< `value` was a JSON string
  std::string problem;   ///< unless found: what was there instead
};

/// Needs stack and memory that do not grow with the nesting of `text`. Numbers come out as they
/// were written; of a key that stands there twice the last one counts.
[[nodiscard]] JsonPart find_in_json(std::string_view text, const std::vector<JsonStep>& path);

}  // namespace swarmkv::internal
