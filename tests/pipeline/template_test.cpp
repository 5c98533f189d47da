#include "pipeline/template.h"

#include <gtest/gtest.h>

#include <string>

#include "swarmkv/error.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::internal {
namespace {

std::string render(std::string_view text, const Answers& answers = {}) {
  const Template parsed = Template::parse(text);
  EXPECT_TRUE(parsed.issues().empty()) << text << ": " << parsed.issues()[0].message;
  return parsed.render(answers);
}

std::string issue(std::string_view text) {
  const Template parsed = Template::parse(text);
  return parsed.issues().empty() ? "" : parsed.issues()[0].code;
}

TEST(Template, InsertsAnswersVerbatimAndOnlyOnce) {
  EXPECT_EQ(render("a {{ x }} b {{x}} c {{\n y }}", {{"x", "1"}, {"y", "2"}}), "a 1 b 1 c 2");
  EXPECT_EQ(render("{{ x }}", {{"x", "{{ y }} <b>&amp;</b> {{ '{{' }}"}, {"y", "never"}}),
            "{{ y }} <b>&amp;</b> {{ '{{' }}")
      << "an answer is not a template";
}

TEST(Template, LeavesTextWithoutDoubleBracesAlone) {
  for (const std::string text :
       {"", "plain", "{ x }", "} }", "}}", "{% if %} {# no #}", "{\"a\":{\"b\":1}}"}) {
    EXPECT_EQ(render(text), text);
  }
}

TEST(Template, WritesBracesThatAreOnlyBraces) {
  EXPECT_EQ(render("{{ '{{' }} x {{\"}}\"}}"), "{{ x }}");
}

TEST(Template, RefusesWhatItCannotRender) {
  EXPECT_EQ(issue("{{ x"), "SK301");
  EXPECT_EQ(issue("{{ x {{ y }}"), "SK301");
  EXPECT_EQ(issue("{{}}"), "SK301");
  EXPECT_EQ(issue("{{ X }}"), "SK301");
  EXPECT_EQ(issue("{{ x y }}"), "SK301");
  EXPECT_EQ(issue("{{ x() }}"), "SK301");
  EXPECT_EQ(issue("{{ 1 + 1 }}"), "SK301");
  EXPECT_EQ(issue("{{ 'text' }}"), "SK301");
  EXPECT_EQ(issue("{{- x }}"), "SK301");
  EXPECT_EQ(issue("{{{ x }}}"), "SK301");
  EXPECT_EQ(issue("{{ x | upper }}"), "SK301");
  EXPECT_EQ(issue("{{ x.text }}"), "SK301");
}

TEST(Template, NamesWhatIsNotBuiltYet) {
  EXPECT_EQ(issue("{{ x | trim }}"), "SK102");
  EXPECT_EQ(issue("{{ x | default('') }}"), "SK102");
  EXPECT_EQ(issue("{{ x.json.a[0] }}"), "SK102");
  EXPECT_EQ(issue("{{ vars.buyer }}"), "SK102");
}

TEST(Template, KnowsWhereEachPieceStands) {
  const Template parsed = Template::parse("ab {{ x }}!");

  ASSERT_EQ(parsed.pieces().size(), 3u);
  EXPECT_EQ(parsed.pieces()[1].kind, TemplatePiece::Kind::kReference);
  EXPECT_EQ(parsed.pieces()[1].text, "x");
  EXPECT_EQ(parsed.pieces()[1].offset, 3u);
  EXPECT_EQ(parsed.pieces()[1].length, 7u);
}

TEST(Template, ThrowsWhenAnAnswerIsMissing) {
  EXPECT_THROW(static_cast<void>(Template::parse("{{ x }}").render({})), Error);
}

TEST(Template, EscapingMakesAnyTextRenderToItself) {
  for (const std::string text : {"", "{{", "{{{", "{{{{", "}}", "{{ x }}", "a {{ '{{' }} b",
                                 "{ { }}", "{{}}{{{}}}", "{", "x{"}) {
    EXPECT_EQ(render(escape_template(text)), text);
  }
}

TEST(Template, ParsesAMebibyteOfBracesInLinearTime) {
  std::string text;
  while (text.size() < (std::size_t{1} << 20)) text += "{{ ";

  const Template parsed = Template::parse(text);

  EXPECT_FALSE(parsed.issues().empty());
}

TEST(AskPipeline, TakesQuestionsAsPlainText) {
  DocumentSpec document;
  document.name = "MPL-2.0";
  document.path = "MPL-2.0.txt";

  Pipeline pipeline = ask_pipeline(document, {"What is {{ x }}?", "Why?"});

  EXPECT_TRUE(validate(pipeline).empty());
  ASSERT_EQ(pipeline.agents.size(), 2u);
  EXPECT_EQ(pipeline.agents[0].name, "q1");
  EXPECT_EQ(pipeline.agents[1].name, "q2");
  EXPECT_EQ(render(pipeline.agents[0].prompt), "What is {{ x }}?");
  EXPECT_EQ(pipeline.documents.at(0).path, "MPL-2.0.txt");
  EXPECT_TRUE(pipeline.agents[0].needs.empty());
}

TEST(AskPipeline, WithoutQuestionsIsRefusedByValidation) {
  Pipeline pipeline = ask_pipeline({"document", "x.txt", {}, {}}, {});

  const std::vector<Diagnostic> problems = validate(pipeline);

  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].code, "SK206");
}

TEST(AskPipeline, DoesNotClashWithADocumentCalledLikeAQuestion) {
  Pipeline pipeline = ask_pipeline({"q1", "q1", {}, {}}, {"Why?"});

  EXPECT_TRUE(validate(pipeline).empty());
}

}  // namespace
}  // namespace swarmkv::internal
