#include "pipeline/yaml_json.h"

#include <optional>

#include "fmt/format.h"
#include "pipeline/json_text.h"
#include "pipeline/scalars.h"

namespace swarmkv::internal {
namespace {

// JSON knows no leading '+', no leading zeros and no point without digits on both sides.
std::string number_as_json(const ReadContext& context, const YamlNode& value) {
  if (const auto whole = parse_integer(value.text)) return std::to_string(*whole);
  if (const auto real = parse_real(value.text)) return fmt::format("{}", *real);
  context.error("SK109", "'" + value.text + "' is no number in JSON", value);
  return "null";
}

// As deep as YAML may be nested, which is bounded.
void append(const ReadContext& context, const YamlNode& value, std::string& out) {
  switch (scalar_type(value)) {
    case ScalarType::kNull:
      out += "null";
      return;
    case ScalarType::kBool:
      out += value.text.front() == 't' || value.text.front() == 'T' ? "true" : "false";
      return;
    case ScalarType::kInt:
    case ScalarType::kFloat:
      out += number_as_json(context, value);
      return;
    case ScalarType::kText:
      out += quote_json(value.text);
      return;
    case ScalarType::kSequence:
      out += '[';
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        if (i > 0) out += ',';
        append(context, context.tree.at(value.items[i]), out);
      }
      out += ']';
      return;
    case ScalarType::kMap:
      break;
  }
  out += '{';
  bool first = true;
  for (const Entry& entry : entries_of(context, value)) {
    if (!first) out += ',';
    first = false;
    out += quote_json(entry.key()) + ":";
    append(context, entry.value, out);
  }
  out += '}';
}

}  // namespace

std::string yaml_to_json(const ReadContext& context, const YamlNode& value) {
  std::string out;
  append(context, value, out);
  return out;
}

}  // namespace swarmkv::internal
