#include "pipeline/read_values.h"

#include <algorithm>
#include <utility>

#include "pipeline/file_texts.h"
#include "pipeline/limits.h"
#include "pipeline/scalars.h"
#include "text/nearest.h"

namespace swarmkv::internal {
namespace {

constexpr const char* kQuoteHint = "put it in quotes if it is meant as text";

bool is_text(const YamlNode& node) { return scalar_type(node) == ScalarType::kText; }

// What to write for a text that YAML took for something else.
std::string text_hint(const ReadContext& context, const Entry& entry) {
  const YamlNode& node = entry.value;
  if (node.kind == YamlNode::Kind::kText) return kQuoteHint;
  if (node.kind == YamlNode::Kind::kNull || node.origin > 0) return "";
  // Nobody begins a name or a path like this.
  if (entry.key() != "prompt" && entry.key() != "system") return "write one text";
  const std::string_view source = context.source.text();
  const char first = node.offset < source.size() ? source[node.offset] : ' ';
  if (first == '[' || first == '{') {
    return std::string("a text that starts with '") + first + "' needs quotes";
  }
  return "write one text, in quotes or after '|' on lines of its own";
}

// A number somebody put into quotes.
std::string number_hint(const YamlNode& node) {
  return is_text(node) && !node.plain && parse_real(node.text) ? "remove the quotes" : "";
}

// "'a', 'b' or 'c'"; with something in front it counts as the first.
std::string list_words(std::span<const std::string> words, std::string result = "") {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!result.empty()) result += i + 1 == words.size() ? " or " : ", ";
    result += "'" + words[i] + "'";
  }
  return result;
}

}  // namespace

void wrong_type(const ReadContext& context, const Entry& entry, std::string_view expected,
                std::string hint) {
  context.error(
      "SK104",
      "'" + entry.key() + "' must be " + std::string(expected) + ", found " + describe(entry.value),
      entry.value_or_key(), std::move(hint));
}

std::optional<std::string> read_text(const ReadContext& context, const Entry& entry) {
  if (is_text(entry.value)) return entry.value.text;
  if (context.is_bare_template(entry.value)) return std::nullopt;
  wrong_type(context, entry, "text", text_hint(context, entry));
  return std::nullopt;
}

std::optional<FileOrText> read_text_or_file(const ReadContext& context, const Entry& entry) {
  constexpr std::string_view kScheme = "file://";
  const std::optional<std::string> text = read_text(context, entry);
  if (!text) return std::nullopt;
  if (text->rfind(kScheme, 0) != 0) return FileOrText{*text, ""};
  const std::string path = text->substr(kScheme.size());
  const auto refuse = [&](const std::string& why) {
    context.error("SK108", "'" + entry.key() + "': " + why, entry.value);
    return std::nullopt;
  };
  if (context.files == nullptr) return refuse("no files are read here");
  const FileTexts::Found found = context.files->find(path);
  if (!found.problem.empty()) return refuse(found.problem);
  return FileOrText{std::string(found.text), path};
}

std::optional<bool> read_bool(const ReadContext& context, const Entry& entry) {
  if (scalar_type(entry.value) == ScalarType::kBool) {
    return entry.value.text.front() == 't' || entry.value.text.front() == 'T';
  }
  const bool old_yaml = is_text(entry.value) && entry.value.plain;
  wrong_type(context, entry, "true or false",
             old_yaml ? "only true and false are booleans in YAML 1.2" : "");
  return std::nullopt;
}

std::optional<std::int64_t> read_integer(const ReadContext& context, const Entry& entry) {
  const auto value = read_integer_or_word(context, entry, {});
  return value ? std::optional(value->value) : std::nullopt;
}

std::optional<IntegerOrWord> read_integer_or_word(const ReadContext& context, const Entry& entry,
                                                  std::span<const std::string> words) {
  const YamlNode& value = entry.value;
  if (is_text(value)) {
    const auto word = std::find(words.begin(), words.end(), value.text);
    if (word != words.end())
      return IntegerOrWord{0, static_cast<std::size_t>(word - words.begin())};
  }
  if (scalar_type(value) != ScalarType::kInt) {
    wrong_type(context, entry, list_words(words, "a whole number"), number_hint(value));
    return std::nullopt;
  }
  const IntegerLimit& limit = integer_limit(entry.key());
  const std::optional<std::int64_t> number = parse_integer(value.text);
  if (number && *number >= limit.min && *number <= limit.max) return IntegerOrWord{*number, {}};
  context.error("SK105", "'" + entry.key() + "' " + range_text(limit) + ", not " + value.text,
                value, words.empty() ? "" : "or write " + list_words(words));
  return std::nullopt;
}

std::optional<double> read_real(const ReadContext& context, const Entry& entry) {
  const ScalarType type = scalar_type(entry.value);
  if (type != ScalarType::kInt && type != ScalarType::kFloat) {
    wrong_type(context, entry, "a number", number_hint(entry.value));
    return std::nullopt;
  }
  const std::optional<double> value = parse_real(entry.value.text);
  const std::string problem = value ? real_problem(entry.key(), *value) : "finite";
  if (problem.empty()) return value;
  context.error("SK105", "'" + entry.key() + "' must be " + problem + ", not " + entry.value.text,
                entry.value);
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> read_duration(const ReadContext& context,
                                                       const Entry& entry) {
  if (entry.value.kind != YamlNode::Kind::kText) {
    wrong_type(context, entry, "a duration such as 90s, 5m or 1m30s");
    return std::nullopt;
  }
  const auto value = parse_duration(entry.value.text);
  if (!value) {
    const bool number = parse_real(entry.value.text).has_value();
    wrong_type(context, entry, "a duration such as 90s, 5m or 1m30s",
               number ? "add a unit: h, m, s or ms" : "whole numbers with h, m, s or ms");
    return std::nullopt;
  }
  if (*value <= kMaxTimeout) return value;
  context.error("SK105", "'" + entry.key() + "' must be at most 168h, not " + entry.value.text,
                entry.value);
  return std::nullopt;
}

std::optional<std::string> read_choice(const ReadContext& context, const Entry& entry,
                                       std::span<const std::string> choices) {
  const std::string expected = list_words(choices);
  if (!is_text(entry.value)) {
    wrong_type(context, entry, expected);
    return std::nullopt;
  }
  if (std::find(choices.begin(), choices.end(), entry.value.text) != choices.end()) {
    return entry.value.text;
  }
  const auto nearest = nearest_name(entry.value.text, choices);
  context.error("SK105",
                "'" + entry.key() + "' must be " + expected + ", not '" + entry.value.text + "'",
                entry.value, nearest ? "did you mean '" + *nearest + "'?" : "");
  return std::nullopt;
}

std::optional<std::vector<const YamlNode*>> read_text_list(const ReadContext& context,
                                                           const Entry& entry,
                                                           const ListWords& words) {
  const auto hint_for = [&words](const YamlNode& node) {
    const bool is_scalar = node.kind == YamlNode::Kind::kText;
    return std::string(*words.hint == '\0' && is_scalar ? kQuoteHint : words.hint);
  };
  std::vector<const YamlNode*> result;
  if (is_text(entry.value)) {
    result.push_back(&entry.value);
    return result;
  }
  if (entry.value.kind != YamlNode::Kind::kSequence) {
    wrong_type(context, entry, std::string("a ") + words.one + " or a list of " + words.many,
               hint_for(entry.value));
    return std::nullopt;
  }
  bool good = true;
  for (const YamlId id : entry.value.items) {
    const YamlNode& item = context.tree.at(id);
    if (is_text(item)) {
      result.push_back(&item);
      continue;
    }
    good = false;
    context.error("SK104",
                  "'" + entry.key() + "' must hold " + words.many + ", found " + describe(item),
                  item.kind == YamlNode::Kind::kNull ? entry.key_node : item, hint_for(item));
  }
  return good ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace swarmkv::internal
