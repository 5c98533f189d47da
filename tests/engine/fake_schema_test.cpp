#include "engine/fake/fake_schema.h"

#include <gtest/gtest.h>

#include "engine/fake_fixture.h"

namespace swarmkv::internal {
namespace {

TEST(FakeSchema, AnswersWithTheSmallestInstance) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type":"string"})", R"("")"},
      {R"({"type":"string","minLength":3})", R"("aaa")"},
      {R"({"type":"integer"})", "0"},
      {R"({"type":"integer","minimum":2.5})", "3"},
      {R"({"type":"integer","exclusiveMinimum":3})", "4"},
      {R"({"type":"integer","maximum":-2})", "-2"},
      {R"({"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1})", "0.5"},
      {R"({"type":"boolean"})", "true"},
      {R"({"type":"null"})", "null"},
      {R"({"type":["string","null"]})", R"("")"},
      {R"({"enum":["long one","short"]})", R"("short")"},
      {R"({"const":{"a":[1,2]}})", R"({"a":[1,2]})"},
      {R"({"anyOf":[{"type":"string","minLength":9},{"type":"integer"}]})", "0"},
      {R"({"type":"array","items":{"type":"integer"}})", "[]"},
      {R"({"type":"array","minItems":2,"items":{"type":"string"}})", R"(["",""])"},
      {R"({"type":"object","properties":{"a":{"type":"string"}}})", "{}"},
      {R"({"type":"object","required":["b","a"],"properties":{"a":{"const":1},"b":{"enum":["x"]}}})",
       R"({"b":"x","a":1})"},
      {R"({"required":["q\"\n"],"type":"object"})", "{\"q\\\"\\u000a\":0}"},
      {"{}", "0"},
  };

  for (const auto& [schema, expected] : cases)
    EXPECT_EQ(smallest_instance(schema), expected) << schema;
}

TEST(FakeSchema, RefusesWhatItCannotAnswer) {
  const std::string deep(100, '[');
  const std::string cases[] = {"",
                               "no json",
                               "[1]",
                               "false",
                               R"({"type":"tuple"})",
                               R"({"type":"string","pattern":"a+"})",
                               R"({"$ref":"#/x"})",
                               R"({"enum":[]})",
                               R"({"type":"integer","minimum":1,"maximum":0})",
                               R"({"type":"array","minItems":1000000000})",
                               R"({"type":"string"} trailing)",
                               R"({"const":01})",
                               R"({"const":"\ud800"})",
                               deep};

  for (const std::string& schema : cases) {
    EXPECT_EQ(thrown([&] { (void)smallest_instance(schema); }), "invalid_argument") << schema;
  }
}

}  // namespace
}  // namespace swarmkv::internal
