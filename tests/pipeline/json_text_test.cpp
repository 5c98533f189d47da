#include "pipeline/json_text.h"

#include <gtest/gtest.h>

#include <string>

#include "support/small_stack.h"

namespace swarmkv::internal {
namespace {

using Path = std::vector<JsonStep>;

JsonStep key(std::string name) { return {std::move(name), {}}; }
JsonStep index(std::size_t i) { return {"", i}; }

std::string value(std::string_view text, const Path& path) {
  const JsonPart part = find_in_json(text, path);
  EXPECT_EQ(part.state, JsonPart::State::kFound) << text << ": " << part.problem;
  return part.value;
}

std::string absent(std::string_view text, const Path& path) {
  const JsonPart part = find_in_json(text, path);
  EXPECT_EQ(part.state, JsonPart::State::kAbsent) << text;
  return part.problem;
}

TEST(JsonText, FindsAPartByKeysAndPlaces) {
  const char* text = R"( { "a" : [ 1, {"b": "x\n\"y\" é"} ], "c": {} } )";

  EXPECT_EQ(value(text, {key("a"), index(1), key("b")}), "x\n\"y\" \xC3\xA9");
  EXPECT_TRUE(find_in_json(text, {key("a"), index(1), key("b")}).is_text);
  EXPECT_EQ(value(text, {key("a"), index(0)}), "1");
  EXPECT_FALSE(find_in_json(text, {key("a"), index(0)}).is_text);
  EXPECT_EQ(value(text, {key("a")}), R"([1,{"b":"x\n\"y\" é"}])");
  EXPECT_EQ(value(text, {}), R"({"a":[1,{"b":"x\n\"y\" é"}],"c":{}})");
}

TEST(JsonText, LeavesNumbersAsTheyWereWritten) {
  EXPECT_EQ(value(R"({"price": 1.50, "id": 123456789012345678901234567890})", {key("price")}),
            "1.50");
  EXPECT_EQ(value(R"({"id": 123456789012345678901234567890})", {key("id")}),
            "123456789012345678901234567890");
  EXPECT_EQ(value("[1e3,true,null]", {index(2)}), "null");
}

TEST(JsonText, KnowsKeysWithEscapesAndTakesTheLastOfTwo) {
  EXPECT_EQ(value(R"({"\u0061": 1})", {key("a")}), "1");
  EXPECT_EQ(value(R"({"a": 1, "a": 2})", {key("a")}), "2");
}

TEST(JsonText, SaysWhatWasThereInstead) {
  EXPECT_EQ(absent(R"({"a": {"x": 1, "y": 2}})", {key("a"), key("b")}),
            ".json.a is an object with 'x', 'y'");
  EXPECT_EQ(absent("{}", {key("b")}), ".json is an empty object");
  EXPECT_EQ(absent(R"({"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1})", {key("h")}),
            ".json is an object with 'a', 'b', 'c', 'd', 'e' and 2 more");
  EXPECT_EQ(absent("[1,2]", {index(2)}), ".json is a list of 2");
  EXPECT_EQ(absent("[]", {index(0)}), ".json is an empty list");
  EXPECT_EQ(absent("[]", {key("a")}), ".json is a list");
  EXPECT_EQ(absent(R"({"a": "t"})", {key("a"), index(0)}), ".json.a is a text");
  EXPECT_EQ(absent(R"({"a": 5})", {key("a"), key("b")}), ".json.a is the number 5");
  EXPECT_EQ(absent(R"({"a": null})", {key("a"), key("b")}), ".json.a is null");
}

TEST(JsonText, RefusesWhatIsNotJson) {
  for (const char* text : {"", " ", "{", "{\"a\": 1", "text", "{} {}", "{'a': 1}", "[1,]",
                           "{\"a\": \"\xff\"}", "nul"}) {
    EXPECT_EQ(find_in_json(text, {}).state, JsonPart::State::kNoJson) << text;
  }
}

TEST(JsonText, OfAnyDepthNeedsNoStack) {
  testing::run_on_small_stack([] {
    const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');
    EXPECT_EQ(value(deep, {index(0)}).size(), 799'998u);
    EXPECT_NE(json_object_problem("{\"a\":" + deep + "}"), "");
  });
}

TEST(JsonText, KnowsAnObjectThatIsNotTooDeep) {
  const auto nested = [](int depth) {
    std::string text = "1";
    for (int i = 0; i < depth; ++i) text = "{\"a\":" + text + "}";
    return text;
  };

  EXPECT_EQ(json_object_problem(R"( {"type": "object"} )"), "");
  EXPECT_EQ(json_object_problem("[]"), "it is JSON, but not an object: { ... }");
  EXPECT_EQ(json_object_problem("{"), "it is not JSON");
  EXPECT_EQ(json_object_problem(nested(kMaxSchemaDepth)), "");
  EXPECT_EQ(json_object_problem(nested(kMaxSchemaDepth + 1)), "it is nested deeper than 64 levels");
}

TEST(JsonText, QuotesAnyBytes) {
  EXPECT_EQ(quote_json("a\"b\\c\nd"), R"("a\"b\\c\nd")");
  EXPECT_EQ(quote_json("\xff"), "\"\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace swarmkv::internal
