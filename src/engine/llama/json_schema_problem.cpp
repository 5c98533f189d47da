#include "engine/llama/json_schema_problem.h"

#include <cstddef>
#include <string_view>

#include "engine/llama/json_bounds.h"
#include "fmt/format.h"
#include "json-schema-to-grammar.h"

namespace swarmkv::internal {
namespace {

// The converter says nothing to its caller, but a pattern that it gave up has left the rule of any
// text under the pattern's name, and adding that rule again then changes nothing. Leaving by an
// exception keeps it from printing.
bool is_followed(const std::string& pattern) {
  struct Told {
    bool followed;
  };
  if (pattern.empty()) return true;  // means any text
  try {
    (void)build_grammar([&pattern](const common_grammar_builder& builder) {
      common_chat_schema_string text;
      text.pattern = pattern;
      const std::string rule = builder.add_schema("it", text);
      throw Told{rule.empty() || builder.add_rule("it", "string") != "it"};
    });
  } catch (const Told& told) {
    return told.followed;
  }
  return true;
}

std::string reason(const std::string& pattern) {
  if (pattern.size() < 2 || pattern.front() != '^' || pattern.back() != '$') {
    const std::string rule = "it must begin with '^' and end with '$'";
    if (pattern.find('|') != std::string::npos) return rule;
    return fmt::format("{}; '{}{}{}' is a text that has it somewhere", rule,
                       pattern.front() == '^' ? "" : "^.*", pattern,
                       pattern.back() == '$' ? "" : ".*$");
  }
  bool in_class = false;
  for (std::size_t i = 1; i + 1 < pattern.size(); ++i) {
    const char next = pattern[i + 1];
    if (pattern[i] == '[' || pattern[i] == ']') in_class = pattern[i] == '[';
    if (!in_class && (pattern[i] == '^' || pattern[i] == '$')) {
      return "'^' and '$' stand once, around all of it: ^(a|b)$";
    }
    if (pattern.compare(i, 2, "(?") == 0 && pattern.compare(i, 3, "(?:") != 0) {
      return "groups that begin with '(?' are not followed";
    }
    if (pattern[i] != '\\') continue;
    if (next == 'd') return "write [0-9] for '\\d'";
    if (next == 'w') return "write [A-Za-z0-9_] for '\\w'";
    if (next == 's') return "write [ ] for '\\s'";
    if (std::string_view("DWSbB").find(next) != std::string_view::npos) {
      return fmt::format("'\\{}' is not followed", next);
    }
    ++i;
  }
  return "it may hold text, '.', [...], (...), '|', '*', '+', '?' and {n,m}";
}

// What a schema says of values, not of their form.
bool is_data(std::string_view key) {
  return key == "const" || key == "enum" || key == "default" || key == "examples";
}

std::string find_problem(const common_json& node, const std::string& pointer) {
  if (node.is_array()) {
    std::size_t i = 0;
    for (const common_json& item : node) {
      std::string problem = find_problem(item, pointer + "/" + std::to_string(i++));
      if (!problem.empty()) return problem;
    }
  }
  if (!node.is_object()) return "";
  if (std::string wrong = bounds_problem(node, pointer); !wrong.empty()) return wrong;
  for (const auto& [key, value] : node.items()) {
    if (is_data(key)) continue;
    const std::string place = pointer + "/" + key;
    // A property may be called "pattern", too; its value is a schema.
    if (key == "pattern" && value.is_string()) {
      const auto pattern = value.get<std::string>();
      if (const std::string wrong = repetition_problem(pattern); !wrong.empty()) {
        return place + ": " + wrong;
      }
      if (is_followed(pattern)) continue;
      constexpr std::size_t kMostShown = 200;
      if (pattern.size() > kMostShown) return place + ": the pattern would be taken for any text";
      return fmt::format("{}: the pattern '{}' would be taken for any text: {}", place, pattern,
                         reason(pattern));
    }
    std::string problem = find_problem(value, place);
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace

std::string schema_problem(const common_json& schema) { return find_problem(schema, "#"); }

}  // namespace swarmkv::internal
