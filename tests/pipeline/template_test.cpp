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

TEST(Template, RefusesFiltersAndPathsItDoesNotKnow) {
  for (const char* text : {"{{ x | }}",
                           "{{ x | trim() }}",
                           "{{ x | default }}",
                           "{{ x | default() }}",
                           "{{ x | default(y) }}",
                           "{{ x | default('y) }}",
                           "{{ x | default('y' }}",
                           "{{ x | default('y', 1) }}",
                           "{{ x | default('\\q') }}",
                           "{{ x | trim json }}",
                           "{{ x.jsonp }}",
                           "{{ x.json. }}",
                           "{{ x.json[] }}",
                           "{{ x.json[-1] }}",
                           "{{ x.json[a] }}",
                           "{{ x.json[1 }}",
                           "{{ x.json[1234567890] }}",
                           "{{ x[0] }}",
                           "{{ x.json.a b }}",
                           "{{ vars }}",
                           "{{ vars. }}",
                           "{{ vars.X }}",
                           "{{ vars.a.b }}",
                           "{{ vars.a | default('') }}",
                           "{{ x || trim }}"}) {
    EXPECT_EQ(issue(text), "SK301") << text;
  }
}

TEST(Template, InsertsVars) {
  const Template parsed = Template::parse("{{ vars.who }}, {{vars.who|json}} {{ who }}");

  EXPECT_EQ(parsed.render({{"who", "x"}}, {{"who", "A \"B\" {{ x }}"}}),
            "A \"B\" {{ x }}, \"A \\\"B\\\" {{ x }}\" x");
  EXPECT_EQ(parsed.pieces()[0].kind, TemplatePiece::Kind::kVariable);
  EXPECT_EQ(parsed.pieces()[0].text, "who");
}

TEST(Template, AppliesFiltersFromLeftToRight) {
  const Answers answers{{"x", " \n a \t"}};

  EXPECT_EQ(render("[{{ x | trim }}]", answers), "[a]");
  EXPECT_EQ(render("{{ x | trim | json }}", answers), "\"a\"");
  EXPECT_EQ(render("{{ x|json|trim }}", answers), "\" \\n a \\t\"");
  EXPECT_EQ(render("{{ x | json | json }}", {{"x", "a"}}), "\"a\"")
      << "what is JSON already stays as it is";
}

TEST(Template, TakesADefaultOnlyForWhatIsNotThere) {
  EXPECT_EQ(render("{{ x | default('none') }}"), "none");
  EXPECT_EQ(render("{{ x | default(\"it's }} {{ y }} | \\\"none\\\"\") }}"),
            "it's }} {{ y }} | \"none\"")
      << "a default is no template";
  EXPECT_EQ(render("{{ x | trim | default(' a ') | json }}"), "\" a \"");
  EXPECT_EQ(render("{{ x | default('') }}", {{"x", ""}}), "");
  EXPECT_EQ(render("{{ x | default('none') }}", {{"x", ""}}), "") << "empty is an answer";
  EXPECT_TRUE(Template::parse("{{ x | trim | default('') }}").pieces()[0].has_default());
}

TEST(Template, InsertsPartsOfAnAnswerThatIsJson) {
  const Answers answers{
      {"x", R"({"who": "A \"B\"", "list": [ {"n": 1.50}, true ], "{{ y }}": "{{ y }}"})"}};

  EXPECT_EQ(render("{{ x.json.who }}", answers), "A \"B\"");
  EXPECT_EQ(render("{{ x.json.who | json }}", answers), "\"A \\\"B\\\"\"");
  EXPECT_EQ(render("{{ x.json.list[0].n }} {{ x.json.list[1] | json }}", answers), "1.50 true");
  EXPECT_EQ(render("{{ x.json.list }}", answers), R"([{"n":1.50},true])");
  EXPECT_EQ(render("{{ x.json[0][1] }}", {{"x", "[[1, 2]]"}}), "2");
  EXPECT_EQ(render("{{ x.json.a-b }}", {{"x", R"({"a-b": "{{ y }}"})"}}), "{{ y }}");
  EXPECT_EQ(render("{{ x.json.b | default('none') }}", {{"x", "{}"}}), "none");
  EXPECT_EQ(render("{{ x.json.b | default('none') }}"), "none");
}

TEST(Template, SaysWhatWasInAnAnswerWithoutThePart) {
  const auto failure = [](const char* text, const char* answer) -> std::string {
    try {
      static_cast<void>(Template::parse(text).render({{"risk", answer}}));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return error.what();
    }
    return "no error";
  };

  EXPECT_EQ(failure("{{ risk.json.a[2] }}", R"({"a": [1, 2]})"),
            "[pipeline.render] the answer of 'risk' has no .json.a[2]: .json.a is a list of 2");
  EXPECT_EQ(failure("{{ risk.json.a }}", "{\"a\": "),
            "[pipeline.render] the answer of 'risk' is not JSON, so it has no .json.a; it has 6 "
            "bytes and may have been cut");
}

TEST(Template, ADefaultStandsForAPartHoweverItIsMissing) {
  for (const char* answer : {"{\"a\": ", "", "no JSON", "{}", "[1]", "{\"a\": 5}"}) {
    EXPECT_EQ(render("{{ x.json.a.b | default('none') }}", {{"x", answer}}), "none") << answer;
  }
  EXPECT_EQ(render("{{ x.json | default('none') }}", {{"x", "{\"a\": "}}), "none");
}

// Twenty gigabytes from a file of 900 KB: nothing of that size is ever made.
TEST(Template, BoundsWhatItMakesBeforeItIsMade) {
  const Vars vars{{"long", std::string(400'000, 'x')}, {"blank", std::string(400'000, ' ')}};
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += "{{vars.long}}";
  const Template prompt = Template::parse(text);

  EXPECT_EQ(prompt.n_fixed_bytes(vars), 12'000'000'000U);
  try {
    static_cast<void>(prompt.render({}, vars));
    FAIL() << "made";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(error.what(),
                 "[pipeline.render] the text has 16800000 bytes or more with what is inserted; at "
                 "most 16777216 are allowed");
  }
  EXPECT_THROW(static_cast<void>(prompt.render_without_answers(vars)), Error);
  EXPECT_THROW(static_cast<void>(render_vars(text, vars)), Error);
}

TEST(Template, WorksOutAFilteredVarOnceHoweverOftenItIsInserted) {
  const Vars vars{{"blank", std::string(1'000'000, ' ')}};
  std::string text = "a";
  for (int i = 0; i < 40'000; ++i) text += "{{vars.blank|trim}}";
  const Template prompt = Template::parse(text);

  EXPECT_EQ(prompt.render({}, vars), "a") << "40 gigabytes of blanks if each were looked at";
  EXPECT_EQ(prompt.n_fixed_bytes(vars), 1U);
}

TEST(Template, BoundsAnswersToo) {
  const std::string answer(1'000'000, 'x');
  std::string text;
  for (int i = 0; i < 16; ++i) text += "{{x}}";

  EXPECT_EQ(render(text, {{"x", answer}}).size(), 16'000'000U);
  EXPECT_THROW(static_cast<void>(render(text + "{{ x }}", {{"x", answer}})), Error);
}

TEST(Template, KnowsItsFixedTextBeforeThereAreAnswers) {
  const Template parsed =
      Template::parse("a {{ x }} {{ x.json.b }} {{ y | default('none') }} {{ vars.v }}");

  EXPECT_EQ(parsed.render_without_answers({{"v", "V"}}), "a   none V");
  EXPECT_EQ(parsed.n_fixed_bytes({{"v", "V"}}), std::string("a   none V").size());
  EXPECT_EQ(parsed.n_fixed_bytes({}), std::string("a   none ").size());
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

TEST(Template, ParsesAMebibyteOfUnclosedDefaultsInLinearTime) {
  std::string text;
  while (text.size() < (std::size_t{1} << 20)) text += "{{a|default('";

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
  Pipeline pipeline = ask_pipeline({"document", "x.txt", {}, {}, {}}, {});

  const std::vector<Diagnostic> problems = validate(pipeline);

  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].code, "SK206");
}

TEST(AskPipeline, ReadsSeveralDocumentsInTheirOrderUnderNamesOfTheirOwn) {
  std::vector<DocumentSpec> documents(7);
  const std::string longest(64, 'a');
  const char* const names[] = {"contract", "annex", "contract", "contract_2", "q1", "Q", ""};
  for (std::size_t i = 0; i < documents.size(); ++i) documents[i].name = names[i];
  documents[6].name = longest;
  documents.push_back(documents[6]);
  for (std::size_t i = 0; i < documents.size(); ++i) documents[i].path = std::to_string(i);

  Pipeline pipeline = ask_pipeline(documents, {"Why?"});

  EXPECT_TRUE(validate(pipeline).empty());
  std::vector<std::string> given, paths;
  for (const DocumentSpec& document : pipeline.documents) {
    given.push_back(document.name);
    paths.push_back(document.path);
  }
  EXPECT_EQ(given,
            (std::vector<std::string>{"contract", "annex", "contract_2", "contract_2_2", "document",
                                      "document_2", longest, longest.substr(2) + "_2"}));
  EXPECT_EQ(paths, (std::vector<std::string>{"0", "1", "2", "3", "4", "5", "6", "7"}));
  EXPECT_FALSE(pipeline.agents.at(0).reads) << "all of them, in this order";
}

TEST(AskPipeline, DoesNotClashWithADocumentCalledLikeAQuestion) {
  Pipeline pipeline = ask_pipeline({"q1", "q1", {}, {}, {}}, {"Why?"});

  EXPECT_TRUE(validate(pipeline).empty());
}

}  // namespace
}  // namespace swarmkv::internal
