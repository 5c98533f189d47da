#include "pipeline/json_text.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "fmt/format.h"
#include "pipeline/json_walk.h"
#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

using nlohmann::json;

std::string decode(std::string_view quoted) {
  return json::parse(quoted.begin(), quoted.end()).get<std::string>();
}

std::string kind_of(std::string_view value) {
  switch (value.front()) {
    case '"':
      return "a text";
    case '{':
      return "an object";
    case '[':
      return "a list";
    case 't':
    case 'f':
      return std::string(value);
    case 'n':
      return "null";
    default:
      return "the number " + std::string(value.substr(0, 40));
  }
}

// The value of `key`, or empty and what the object holds.
std::optional<std::string_view> find_key(std::string_view object, const std::string& key,
                                         std::string& problem) {
  constexpr std::size_t kMaxKeysShown = 5;
  std::optional<std::string_view> found;
  std::string keys;
  std::size_t n_keys = 0;
  JsonWalk walk(object);
  if (walk.enter()) {
    do {
      const std::string name = decode(walk.take_key());
      if (n_keys++ < kMaxKeysShown) {
        keys += fmt::format("{}'{}'", keys.empty() ? "" : ", ", sanitize_utf8(name.substr(0, 40)));
      }
      const std::string_view value = walk.take_value();
      if (name == key) found = value;
    } while (walk.next_item());
  }
  if (!found) {
    problem = n_keys == 0 ? "an empty object" : "an object with " + keys;
    if (n_keys > kMaxKeysShown) problem += fmt::format(" and {} more", n_keys - kMaxKeysShown);
  }
  return found;
}

std::optional<std::string_view> find_index(std::string_view list, std::size_t index,
                                           std::string& problem) {
  std::size_t n_items = 0;
  JsonWalk walk(list);
  if (walk.enter()) {
    do {
      const std::string_view value = walk.take_value();
      if (n_items++ == index) return value;
    } while (walk.next_item());
  }
  problem = n_items == 0 ? "an empty list" : fmt::format("a list of {}", n_items);
  return std::nullopt;
}

std::optional<std::string_view> take_step(std::string_view value, const JsonStep& step,
                                          std::string& problem) {
  if (step.index && value.front() == '[') return find_index(value, *step.index, problem);
  if (!step.index && value.front() == '{') return find_key(value, step.key, problem);
  problem = kind_of(value);
  return std::nullopt;
}

std::string_view without_byte_order_mark(std::string_view text) {
  return text.substr(0, 3) == "\xEF\xBB\xBF" ? text.substr(3) : text;
}

}  // namespace

std::string json_object_problem(std::string_view text) {
  if (!json::accept(text.begin(), text.end())) return "it is not JSON";
  text = without_byte_order_mark(text);
  const char first = JsonWalk(text).next();
  if (first != '{') return "it is JSON, but not an object: { ... }";
  if (json_depth(text) > kMaxSchemaDepth) {
    return fmt::format("it is nested deeper than {} levels", kMaxSchemaDepth);
  }
  return "";
}

std::string quote_json(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string indent_json(std::string_view valid_json) {
  return nlohmann::ordered_json::parse(valid_json.begin(), valid_json.end()).dump(2);
}

std::string path_text(const std::vector<JsonStep>& path) {
  std::string text = ".json";
  for (const JsonStep& step : path) {
    text += step.index ? "[" + std::to_string(*step.index) + "]" : "." + step.key;
  }
  return text;
}

JsonPart find_in_json(std::string_view text, const std::vector<JsonStep>& path) {
  JsonPart part;
  if (!json::accept(text.begin(), text.end())) return part;
  std::string_view value = JsonWalk(without_byte_order_mark(text)).take_value();
  std::vector<JsonStep> taken;
  for (const JsonStep& step : path) {
    std::string problem;
    const std::optional<std::string_view> found = take_step(value, step, problem);
    if (!found) {
      part.state = JsonPart::State::kAbsent;
      part.problem = fmt::format("{} is {}", path_text(taken), problem);
      return part;
    }
    value = *found;
    taken.push_back(step);
  }
  part.state = JsonPart::State::kFound;
  part.is_text = value.front() == '"';
  part.value = part.is_text ? decode(value) : without_json_blanks(value);
  return part;
}

}  // namespace swarmkv::internal
