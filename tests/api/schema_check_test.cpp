// JSON Schemas that an engine cannot bind answers to are found before anything runs.
#include <gtest/gtest.h>

#include "support/pipelines.h"

namespace swarmkv::testing {
namespace {

AgentSpec bound_to(const std::string& name, const std::string& schema) {
  AgentSpec spec = agent(name, "What?");
  spec.sampling.json_schema = schema;
  return spec;
}

constexpr const char* kGood = R"({"type": "object", "properties": {"a": {"type": "string"}}})";
constexpr const char* kPattern = R"({"type": "string", "pattern": "^a$"})";  // beyond the fake one

TEST(SchemaCheck, SaysWhatTheEngineCannotDo) {
  const SchemaCheck check = schema_check("fake");

  EXPECT_EQ(check(kGood), "");
  EXPECT_NE(check(kPattern).find("pattern"), std::string::npos) << check(kPattern);
  EXPECT_THROW((void)schema_check("none"), Error);
}

TEST(SchemaCheck, APlanListsAllSchemasThatCannotBeUsed) {
  const Pipeline pipeline = pipeline_of({bound_to("good", kGood), bound_to("one", kPattern),
                                         agent("plain", "What?"), bound_to("two", kPattern)});
  try {
    (void)make_plan(fake_model(), pipeline, {});
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    const std::string what = e.what();
    for (const char* part :
         {"'json_schema' of agent 'one' cannot bind an answer", "agent 'two'", "[SK109]"}) {
      EXPECT_NE(what.find(part), std::string::npos) << what;
    }
    EXPECT_EQ(what.find("'good'"), std::string::npos) << what;
  }
}

TEST(SchemaCheck, AFileShowsItsLineWithoutAModel) {
  const char* yaml =
      "version: 1\n"
      "agents:\n"
      "  one:\n"
      "    prompt: What?\n"
      "    json_schema: { type: string, pattern: ^a$ }\n"
      "    max_tokens: -1\n";
  const ParsedPipeline parsed = parse_pipeline(yaml, "p.yaml", {}, {}, schema_check("fake"));

  ASSERT_EQ(parsed.diagnostics.size(), 2u) << format(parsed.diagnostics);
  EXPECT_EQ(parsed.diagnostics[0].code, "SK109");
  EXPECT_EQ(to_string(parsed.diagnostics[0].pos), "p.yaml:5:5");
  EXPECT_NE(parsed.diagnostics[0].excerpt.find("pattern"), std::string::npos);
  EXPECT_TRUE(parse_pipeline("version: 1\nagents: { one: { prompt: What?, json_schema: '{}' } }\n",
                             "p.yaml", {}, {}, schema_check("fake"))
                  .ok());
}

TEST(SchemaCheck, APartThatTheEngineNamesIsShownWhereItStands) {
  const char* yaml =
      "version: 1\n"
      "agents:\n"
      "  one:\n"
      "    prompt: What?\n"
      "    json_schema:\n"
      "      type: object\n"
      "      properties:\n"
      "        name: { type: string, pattern: a+ }\n"
      "        kind: { anyOf: [{ type: string }, { type: odd }] }\n";
  const auto place = [&](const std::string& problem) {
    const ParsedPipeline parsed =
        parse_pipeline(yaml, "p.yaml", {}, {}, [&](const std::string&) { return problem; });
    return parsed.diagnostics.size() == 1 ? to_string(parsed.diagnostics[0].pos) : "";
  };

  EXPECT_EQ(place("#/properties/name/pattern: not followed"), "p.yaml:8:31");
  EXPECT_EQ(place("schema error at #/properties/kind/anyOf/1: unrecognized type"), "p.yaml:9:43");
  EXPECT_EQ(place("at #/properties/name/type/0: a part of the engine's own"), "p.yaml:8:17");
  EXPECT_EQ(place("at #: all of it"), "p.yaml:5:5");
  EXPECT_EQ(place("no place at all"), "p.yaml:5:5");
}

}  // namespace
}  // namespace swarmkv::testing
