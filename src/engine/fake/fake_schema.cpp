#include "engine/fake/fake_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/fake/mini_json.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

constexpr int kMaxItems = 1000;  // of minItems and minLength: a schema is untrusted input

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "[engine.json_schema] " + what);
}

constexpr std::array<std::string_view, 10> kRefused = {
    "$ref",     "allOf",      "not",        "if", "pattern", "format", "patternProperties",
    "contains", "multipleOf", "prefixItems"};

std::string instance(const MiniJson& schema, int depth);

std::string smallest_of(const MiniJson& options, std::string_view keyword, int depth,
                        bool literal) {
  if (options.kind != MiniJson::Kind::kArray || options.items.empty()) {
    refuse(fmt::format("'{}' must be a list with at least one entry: {}", keyword, options.source));
  }
  std::string best;
  for (const MiniJson& option : options.items) {
    std::string one = literal ? std::string(option.source) : instance(option, depth + 1);
    if (best.empty() || one.size() < best.size()) best = std::move(one);
  }
  return best;
}

double number_of(const MiniJson& schema, std::string_view key, double fallback) {
  const MiniJson* value = schema.find(key);
  if (!value) return fallback;
  if (value->kind != MiniJson::Kind::kNumber) {
    refuse(fmt::format("'{}' must be a number: {}", key, value->source));
  }
  return value->number;
}

std::size_t count_of(const MiniJson& schema, std::string_view key) {
  const double n = number_of(schema, key, 0);
  if (n < 0 || n > kMaxItems || n != std::floor(n)) {
    refuse(fmt::format("'{}' must be a whole number in [0, {}]: {}", key, kMaxItems, n));
  }
  return static_cast<std::size_t>(n);
}

std::string number_instance(const MiniJson& schema, bool integer) {
  const double low = number_of(schema, "minimum", -HUGE_VAL);
  const double high = number_of(schema, "maximum", HUGE_VAL);
  const double above = number_of(schema, "exclusiveMinimum", -HUGE_VAL);
  const double below = number_of(schema, "exclusiveMaximum", HUGE_VAL);
  const auto fits = [&](double v) { return v >= low && v <= high && v > above && v < below; };
  std::vector<double> tries = {0, std::ceil(low), std::floor(high), std::floor(above) + 1,
                               std::ceil(below) - 1};
  if (!integer)
    tries.insert(tries.end(),
                 {low, high, (above + below) / 2, (above + high) / 2, (low + below) / 2});
  for (const double v : tries) {
    if (std::isfinite(v) && fits(v)) return fmt::format("{}", v);
  }
  refuse(fmt::format("no {} fits {}", integer ? "integer" : "number", schema.source));
}

std::string object_instance(const MiniJson& schema, int depth) {
  const MiniJson* required = schema.find("required");
  const MiniJson* properties = schema.find("properties");
  std::string out = "{";
  if (!required) return out + "}";
  if (required->kind != MiniJson::Kind::kArray) {
    refuse(fmt::format("'required' must be a list: {}", required->source));
  }
  for (const MiniJson& name : required->items) {
    if (name.kind != MiniJson::Kind::kString)
      refuse(fmt::format("not a property name: {}", name.source));
    const MiniJson* property = properties ? properties->find(name.string) : nullptr;
    if (out.size() > 1) out += ",";
    out += mini_json_string(name.string) + ":";
    out += property ? instance(*property, depth + 1) : "0";
  }
  return out + "}";
}

std::string array_instance(const MiniJson& schema, int depth) {
  const MiniJson* items = schema.find("items");
  const std::size_t n = count_of(schema, "minItems");
  const std::string item = items && n > 0 ? instance(*items, depth + 1) : "0";
  std::string out = "[";
  for (std::size_t i = 0; i < n; ++i) out += (i ? "," : "") + item;
  return out + "]";
}

std::string instance_of_type(const MiniJson& schema, std::string_view type, int depth) {
  if (type == "object") return object_instance(schema, depth);
  if (type == "array") return array_instance(schema, depth);
  if (type == "string") return "\"" + std::string(count_of(schema, "minLength"), 'a') + "\"";
  if (type == "integer" || type == "number") return number_instance(schema, type == "integer");
  if (type == "boolean") return "true";
  if (type == "null") return "null";
  refuse(fmt::format("unknown type '{}'", type));
}

std::string instance(const MiniJson& schema, int depth) {
  if (depth > 64) refuse("nested deeper than 64 levels");
  if (schema.source == "true") return "0";
  if (schema.kind != MiniJson::Kind::kObject) {
    refuse(fmt::format("a schema is an object: {}", schema.source));
  }
  for (const std::string_view keyword : kRefused) {
    if (schema.find(keyword)) refuse(fmt::format("the fake engine does not know '{}'", keyword));
  }
  if (const MiniJson* value = schema.find("const")) return std::string(value->source);
  if (const MiniJson* values = schema.find("enum"))
    return smallest_of(*values, "enum", depth, true);
  for (const std::string_view keyword : {"anyOf", "oneOf"}) {
    if (const MiniJson* options = schema.find(keyword)) {
      return smallest_of(*options, keyword, depth, false);
    }
  }
  const MiniJson* type = schema.find("type");
  if (!type) return schema.find("properties") ? object_instance(schema, depth) : "0";
  if (type->kind == MiniJson::Kind::kArray && !type->items.empty()) type = &type->items.front();
  if (type->kind != MiniJson::Kind::kString) {
    refuse(fmt::format("'type' must be a name: {}", type->source));
  }
  return instance_of_type(schema, type->string, depth);
}

}  // namespace

std::string smallest_instance(std::string_view schema) {
  const auto parsed = parse_mini_json(schema);
  if (!parsed) refuse(fmt::format("not valid JSON: {}", schema.substr(0, 80)));
  return instance(*parsed, 0);
}

}  // namespace swarmkv::internal
