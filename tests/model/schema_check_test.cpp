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

}  // namespace
}  // namespace swarmkv::internal
