// The JSON Schema of a pipeline file, made from the same tables of keys and limits that the readers
// use. tests/cli holds the two against each other.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "pipeline/json_text.h"
#include "pipeline/keys.h"
#include "pipeline/limits.h"
#include "pipeline/schema_texts.h"
#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace internal {
namespace {

// Members of an object, without its braces.
constexpr const char* kText = R"("type":"string")";
constexpr const char* kFilledText = R"("type":"string","minLength":1)";
constexpr const char* kOwnKeys = R"("^x-":true)";
constexpr const char* kNamePattern = "^[a-z][a-z0-9_]{0,63}$";
constexpr const char* kReserved =
    R"("propertyNames":{"not":{"enum":["vars","documents","agents"]}})";
constexpr const char* kPercent =
    R"("type":"string","pattern":"^0*(100(\\.0*)?|[0-9]{1,2}\\.?|[0-9]{0,2}\\.[0-9]+)%$")";
// JSON itself cannot be checked by a pattern, but what is certainly something else can be.
constexpr const char* kSchemaText =
    R"json("type":"string","pattern":"^(file://.|[ \\t\\r\\n]*\\{)")json";
// No way out of the folder, and the name of a file at its end.
constexpr const char* kFileBelow =
    R"("type":"string","minLength":1,"not":{"pattern":"^/|(^|/)\\.\\.(/|$)|(^|/)\\.?$"})";

std::string any_of(const std::vector<std::string>& members) {
  std::string out;
  for (const std::string& each : members) out += (out.empty() ? "{" : ",{") + each + "}";
  return "\"anyOf\":[" + out + "]";
}

std::string array_of(const std::string& members) {
  return R"("type":"array","items":{)" + members + "}";
}

std::string words(std::span<const std::string> choices) {
  std::string out;
  for (const std::string& choice : choices) out += (out.empty() ? "" : ",") + quote_json(choice);
  return "\"enum\":[" + out + "]";
}

std::string integer(const IntegerLimit& limit) {
  return fmt::format(R"("type":"integer","minimum":{},"maximum":{})", limit.min, limit.max);
}

std::string real(const RealLimit& limit) {
  std::string out = fmt::format(R"("type":"number","{}":{})",
                                limit.min_included ? "minimum" : "exclusiveMinimum", limit.min);
  if (std::isfinite(limit.max)) {
    out +=
        fmt::format(R"(,"{}":{})", limit.max_included ? "maximum" : "exclusiveMaximum", limit.max);
  }
  return out;
}

// A pattern of the whole numbers from 0 to `most`, with zeros in front or not.
std::string up_to(std::int64_t most) {
  const std::string last = std::to_string(most);
  std::string out = "0*(" + last;
  for (std::size_t i = 0; i < last.size(); ++i) {
    if (last[i] == '0') continue;
    out += fmt::format("|{}[0-{}]", last.substr(0, i), static_cast<char>(last[i] - 1));
    if (i + 1 < last.size()) out += fmt::format("[0-9]{{{}}}", last.size() - i - 1);
  }
  if (last.size() > 1) out += fmt::format("|[0-9]{{1,{}}}", last.size() - 1);
  return out + ")";
}

// Each part by itself is in range; their sum is left to the parser.
std::string duration() {
  using std::chrono::duration_cast;
  const auto part = [](auto most, const char* unit) {
    return fmt::format("((?=[0-9]{{1,9}}{}){}{})?", unit, up_to(most.count()), unit);
  };
  return R"("type":"string","pattern":"^(?=.))" + part(kMaxTimeout, "h") +
         part(duration_cast<std::chrono::minutes>(kMaxTimeout), "m") +
         part(duration_cast<std::chrono::seconds>(kMaxTimeout), "s") +
         part(duration_cast<std::chrono::milliseconds>(kMaxTimeout), "ms") + R"($")";
}

std::string value_of(KeyLevel level, std::string_view key);

// A mapping with the keys of a level. `rules` are further members, with a comma in front.
std::string mapping(KeyLevel level, const std::string& rules = "") {
  std::string properties;
  for (const std::string& key : keys_at(level)) {
    properties += fmt::format(R"({}"{}":{{"description":{},{}}})", properties.empty() ? "" : ",",
                              key, quote_json(key_description(key)), value_of(level, key));
  }
  return fmt::format(
      R"("type":"object","properties":{{{}}},"patternProperties":{{{}}},"additionalProperties":false{})",
      properties, kOwnKeys, rules);
}

// A mapping of names that the user chooses.
std::string named(const std::string& value) {
  return fmt::format(
      R"("type":"object","patternProperties":{{"{}":{{{}}},{}}},"additionalProperties":false)",
      kNamePattern, value, kOwnKeys);
}

std::string not_both(std::string_view a, std::string_view b) {
  return fmt::format(R"({{"not":{{"required":["{}","{}"]}}}})", a, b);
}

std::string document() {
  return any_of({kFilledText, mapping(KeyLevel::kDocument, R"(,"required":["path"])")});
}

std::string agents() {
  const std::string agent = mapping(
      KeyLevel::kAgent, R"(,"required":["prompt"],"allOf":[)" + not_both("continues", "reads") +
                            "," + not_both("continues", "ready_after") + "]");
  return named(agent) + R"(,"minProperties":1,)" + kReserved;
}

std::string need() {
  return any_of({kFilledText, mapping(KeyLevel::kNeed, R"(,"required":["agent"])")});
}

std::string ready_after() {
  return any_of({integer(integer_limit("ready_after")), kPercent,
                 mapping(KeyLevel::kReadyAfter, R"(,"required":["before"])")});
}

std::string snapshot() {
  return any_of({words(choices_of("snapshot")),
                 fmt::format(R"("type":"string","pattern":{})", quote_json(kSnapshotPathPattern))});
}

std::string value_of(KeyLevel level, std::string_view key) {
  if (key == "snapshot") return snapshot();
  if (const std::span<const std::string> choices = choices_of(key); !choices.empty()) {
    const IntegerLimit* limit = find_integer_limit(key);
    return limit == nullptr ? words(choices) : any_of({integer(*limit), words(choices)});
  }
  if (key == "version") return "\"const\":1";
  if (key == "ready_after") return ready_after();
  if (key == "agents") return agents();
  if (const IntegerLimit* limit = find_integer_limit(key)) return integer(*limit);
  if (const RealLimit* limit = find_real_limit(key)) return real(*limit);
  if (key == "model") return mapping(KeyLevel::kModel);
  if (key == "defaults") return mapping(KeyLevel::kDefaults);
  if (key == "document") return document();
  if (key == "documents") return named(document()) + "," + kReserved;
  if (key == "vars") return named(R"("type":["string","number"])");
  if (key == "needs") return any_of({need(), array_of(need()) + ",\"uniqueItems\":true"});
  if (key == "reads") {
    return any_of({kFilledText, array_of(kFilledText) + ",\"uniqueItems\":true"});
  }
  if (key == "stop") return any_of({kFilledText, array_of(kFilledText)});
  if (key == "json_schema") return any_of({kSchemaText, "\"type\":\"object\""});
  if (key == "timeout") return duration();
  if (key == "ignore_eos" || key == "required") return "\"type\":\"boolean\"";
  if (key == "prompt") return R"("type":"string","pattern":"\\S")";
  if (key == "output_file") return kFileBelow;
  const bool may_be_empty = key == "system" || level == KeyLevel::kModel;
  return may_be_empty ? kText : kFilledText;  // name, path, agent, continues, before
}

}  // namespace
}  // namespace internal

std::string pipeline_schema() {
  using internal::KeyLevel;
  const std::string top =
      internal::mapping(KeyLevel::kTop, R"(,"required":["version","agents"],"allOf":[)" +
                                            internal::not_both("document", "documents") + "]");
  return internal::indent_json(
             R"({"$schema":"https://json-schema.org/draft/2020-12/schema","title":"SwarmKV pipeline",)" +
             top + "}") +
         "\n";
}

}  // namespace swarmkv
