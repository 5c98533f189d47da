// The JSON Schema for editors knows every key. That it accepts and refuses what the parser does is
// tested in tests/cli.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/keys.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::internal {
namespace {

using nlohmann::json;

TEST(PipelineSchema, KnowsAndDescribesEveryKeyOfEveryLevel) {
  const json schema = json::parse(pipeline_schema());
  const auto check = [](const json& mapping, KeyLevel level) {
    const std::vector<std::string> keys = keys_at(level);
    EXPECT_EQ(mapping.at("properties").size(), keys.size());
    for (const std::string& key : keys) {
      SCOPED_TRACE(key);
      const json& value = mapping.at("properties").at(key);
      EXPECT_FALSE(value.at("description").get<std::string>().empty());
      EXPECT_TRUE(value.contains("type") || value.contains("anyOf") || value.contains("enum") ||
                  value.contains("const"))
          << value;
    }
    EXPECT_EQ(mapping.at("additionalProperties"), false);
  };
  const json& top = schema.at("properties");
  const json& agent = top.at("agents").at("patternProperties").at("^[a-z][a-z0-9_]{0,63}$");

  check(schema, KeyLevel::kTop);
  check(top.at("model"), KeyLevel::kModel);
  check(top.at("defaults"), KeyLevel::kDefaults);
  check(top.at("document").at("anyOf").at(1), KeyLevel::kDocument);
  check(agent, KeyLevel::kAgent);
  check(agent.at("properties").at("needs").at("anyOf").at(0).at("anyOf").at(1), KeyLevel::kNeed);
  check(agent.at("properties").at("ready_after").at("anyOf").at(2), KeyLevel::kReadyAfter);
}

TEST(PipelineSchema, NamesItsDialect) {
  EXPECT_EQ(json::parse(pipeline_schema()).at("$schema"),
            "https://json-schema.org/draft/2020-12/schema");
}

}  // namespace
}  // namespace swarmkv::internal
