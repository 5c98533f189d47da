// Schemas that cannot become a grammar, found without a model.
#include <gtest/gtest.h>

#include <string>

#include "engine/llama_engine.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

std::string refusal(const std::string& schema) {
  try {
    check_llama_schema(schema);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
}

TEST(LlamaSchemaCheck, TakesWhatCanBecomeAGrammar) {
  for (const char* schema :
       {"{}", R"({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})",
        R"({"type": "array", "items": {"enum": ["x", 1, null]}, "maxItems": 20})",
        R"({"type": "string", "pattern": "^[a-z]{1,5}$"})"}) {
    EXPECT_EQ(refusal(schema), "") << schema;
  }
}

TEST(LlamaSchemaCheck, RefusesWhatCannot) {
  for (const char* schema : {R"({"$ref": "#/nowhere"})", R"({"type": "unheard-of"})",
                             R"({"type": "string", "pattern": "^(a$"})",
                             R"({"type": "array", "items": {}, "minItems": 100000})", "[", ""}) {
    EXPECT_NE(refusal(schema).find("[engine.json_schema]"), std::string::npos) << schema;
  }
}

// llama-common takes a pattern that it cannot follow for any text and says so on stderr.
TEST(LlamaSchemaCheck, RefusesPatternsThatWouldNotBeFollowed) {
  struct Case {
    const char* pattern;
    const char* says;
  };
  for (const Case& each : {Case{"a+", "'^.*a+.*$'"}, Case{"^a", "'^a.*$'"}, Case{"a$", "'^.*a$'"},
                           Case{"^\\\\d+$", "[0-9]"}, Case{"^\\\\w$", "[A-Za-z0-9_]"},
                           Case{"^\\\\bx$", "not followed"}, Case{"^(?=a)b$", "(?"},
                           Case{"^a$|^b$", "stand once"}, Case{"^a{x}$", "may hold"}}) {
    SCOPED_TRACE(each.pattern);
    const std::string schema = std::string(R"({"type": "object", "properties": {"p": )") +
                               R"({"type": "string", "pattern": ")" + each.pattern + R"("}}})";

    ::testing::internal::CaptureStderr();
    const std::string said = refusal(schema);

    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    EXPECT_NE(said.find("#/properties/p/pattern: "), std::string::npos) << said;
    EXPECT_NE(said.find(each.says), std::string::npos) << said;
  }
}

TEST(LlamaSchemaCheck, TakesWhatOnlyLooksLikeAPattern) {
  for (const char* schema :
       {R"({"type": "object", "properties": {"pattern": {"type": "string"}}})",
        R"({"type": "object", "default": {"pattern": "a"}})",
        R"({"type": "string", "pattern": ""})", R"({"enum": [{"pattern": "a"}]})",
        R"({"type": "string", "pattern": "^(?:ab|[0-9]{2}\\.)+$"})",
        R"({"anyOf": [{"type": "string", "pattern": "^it$"}, {"type": "null"}]})"}) {
    EXPECT_EQ(refusal(schema), "") << schema;
  }
}

}  // namespace
}  // namespace swarmkv::internal
