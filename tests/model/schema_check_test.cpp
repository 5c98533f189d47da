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

// llama-common would count from the lower to the upper one, and never arrive.
TEST(LlamaSchemaCheck, RefusesBoundsThatNothingCanKeep) {
  struct Case {
    const char* schema;
    const char* says;
  };
  for (const Case& each :
       {Case{R"({"type": "string", "minLength": 3, "maxLength": 2})", "#/maxLength: it is 2"},
        Case{R"({"type": "array", "items": {}, "minItems": 5, "maxItems": 0})", "#/maxItems: "},
        Case{R"({"type": "integer", "minimum": 5, "maximum": 2})", "below minimum, which is 5"},
        Case{R"({"type": "object", "properties": {"x": {"minItems": 2, "maxItems": 1}}})",
             "#/properties/x/maxItems: "},
        Case{R"({"anyOf": [{"type": "string"}, {"minLength": 3, "maxLength": 2}]})",
             "#/anyOf/1/maxLength: "},
        Case{R"({"type": "string", "pattern": "^a{5,2}$"})", "#/pattern: {5,2}"},
        Case{R"({"type": "string", "pattern": "^a{3,0}$"})", "#/pattern: {3,0}"}}) {
    EXPECT_NE(refusal(each.schema).find(each.says), std::string::npos)
        << each.schema << ": " << refusal(each.schema);
  }
  for (const char* schema :
       {R"({"type": "string", "minLength": 2, "maxLength": 2})",
        R"({"type": "object", "properties": {"minItems": {"type": "integer"}}})",
        R"({"type": "string", "pattern": "^[{3,1}]a{2,2}b{2}c{1,}$"})",
        R"({"const": {"minItems": 2, "maxItems": 1}})"}) {
    EXPECT_EQ(refusal(schema), "") << schema;
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
