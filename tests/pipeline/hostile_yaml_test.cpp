// Files made to hurt: deep, wide, endless or exponential. Each must end quickly, with an error, in
// little memory.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "support/small_stack.h"
#include "swarmkv/error.h"
#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::string repeat(const std::string& part, std::size_t n_bytes) {
  std::string text;
  while (text.size() + part.size() <= n_bytes) text += part;
  return text;
}

std::string first_code(const std::string& yaml) {
  const ParsedPipeline parsed = parse_pipeline(yaml, "f");
  return parsed.diagnostics.empty() ? "" : parsed.diagnostics[0].code;
}

TEST(HostileYaml, NestingOfAnyDepthNeitherOverflowsTheStackNorTakesLong) {
  testing::run_on_small_stack([] {
    for (const char* part :
         {"[",    "{",     "- ",   "? ", "a: {",  "[{",    "{a: ",        "{? ", "- - ? ",
          "&a [", "!x [",  "\"",   "'",  "|",     ">",     "\n ",         "*a ", "&a ",
          "! ",   ": ",    "a: ",  ",",  "]",     "#",     "{{",          "%",   "@",
          "`",    "? ? :", "-\n ", "[?", "---\n", "...\n", "\xE2\x82\xAC"}) {
      SCOPED_TRACE(part);
      const auto start = std::chrono::steady_clock::now();
      const ParsedPipeline parsed = parse_pipeline(repeat(part, 200'000), "f");
      EXPECT_FALSE(parsed.ok());
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
    }
  });
}

TEST(HostileYaml, NestingIsAllowedToDepth32AndNoDeeper) {
  const auto nested = [](int depth) {
    return "version: 1\nagents: { a: { prompt: p } }\nx-deep: " + std::string(depth, '[') +
           std::string(depth, ']') + "\n";
  };

  EXPECT_EQ(first_code(nested(31)), "");
  EXPECT_EQ(first_code(nested(32)), "SK004");
}

TEST(HostileYaml, AliasesThatMultiplyAreRefused) {
  // Ten levels of ten aliases: 10^10 nodes in a few hundred bytes.
  std::string yaml = "version: 1\nx-0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    yaml += "x-" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias;
    for (int k = 1; k < 10; ++k) yaml += ", " + alias;
    yaml += "]\n";
  }

  EXPECT_EQ(first_code(yaml), "SK004");
}

TEST(HostileYaml, LongTextsThatAliasesRepeatAreRefused) {
  std::string yaml = "version: 1\nx-text: &t \"" + std::string(500'000, 'x') + "\"\nagents:\n";
  for (int i = 0; i < 5'000; ++i) yaml += "  a" + std::to_string(i) + ": { prompt: *t }\n";

  EXPECT_EQ(first_code(yaml), "SK004");
}

TEST(HostileYaml, AnAliasInsideOfItselfIsRefused) {
  EXPECT_EQ(first_code("version: 1\nx-a: &a [*a]\n"), "SK004");
  EXPECT_EQ(first_code("version: 1\nx-a: &a { b: *a }\n"), "SK004");
}

TEST(HostileYaml, DepthThroughAliasesCounts) {
  std::string yaml = "version: 1\nx-0: &a0 [x]\n";
  for (int i = 1; i < 40; ++i) {
    yaml += "x-" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            "]\n";
  }

  EXPECT_EQ(first_code(yaml), "SK004");
}

TEST(HostileYaml, AFileAboveOneMebibyteIsRefusedBeforeItIsParsed) {
  const ParsedPipeline parsed = parse_pipeline(std::string(10 * kMiB, '['), "f");

  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_EQ(parsed.diagnostics[0].code, "SK004");
  EXPECT_NE(parsed.diagnostics[0].message.find("10485760"), std::string::npos);
}

TEST(HostileYaml, OneVeryLongLineOfErrorsStaysLinear) {
  std::string yaml = "version: 1\nagents: { a: { prompt: x";
  for (int i = 0; i < 40'000; ++i) yaml += ", k" + std::to_string(i) + ": 1";
  yaml += " } }\n";

  const auto start = std::chrono::steady_clock::now();
  const ParsedPipeline parsed = parse_pipeline(yaml, "f");

  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  ASSERT_EQ(parsed.diagnostics.size(), 21u);
  EXPECT_EQ(parsed.diagnostics.back().message, "and 39980 more errors");
}

TEST(HostileYaml, ManyBracesInManyAliasedPromptsStayCheap) {
  std::string yaml = "version: 1\nagents:\n  a: { prompt: &p \"" + repeat("{{ ", 3'000) + "\" }\n";
  for (int i = 0; i < 3'000; ++i) yaml += "  b" + std::to_string(i) + ": { prompt: *p }\n";

  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(first_code(yaml), "SK301");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

// Mutations of a good file. The seed is printed, so that a failure can be repeated.
TEST(HostileYaml, RandomlyDamagedFilesNeverThrowOrCrash) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  RecordProperty("seed", std::to_string(seed));
  std::mt19937 random(seed);
  const std::string good = R"(version: 1
name: n
model: { path: m, ctx_size: auto, threads: 2 }
documents: { d: d.txt, e: { path: e.txt } }
vars: { v: w, n: 1.5 }
system: s {{ vars.v }}
defaults: { reads: [d], max_tokens: 5, stop: [a, 'b', "c"], timeout: 1m }
agents:
  a: { prompt: &x Why?, seed: 1, json_schema: { type: object }, ready_after: 25% }
  b:
    needs: [{ agent: a, required: false }]
    prompt: |
      {{ a.json.k[0] | default('none') | trim }} and {{ '{{' }} {{ vars.n | json }}
  c: { prompt: *x, reads: [e, d], ready_after: { before: t }, output_file: o/c.md }
  d2: { continues: c, prompt: file://p.md, system: "{{ vars.v }}" }
)";
  const std::string alphabet = "{}[]:,-?&*!|>'\"%@#\\ \n\tab01x~<=\xC3\xA9";
  ASSERT_TRUE(parse_pipeline(good, "f", {}, [](const std::string&) { return "{{ a }}"; }).ok());
  for (int round = 0; round < 3'000; ++round) {
    std::string text = good;
    const int n_changes = 1 + static_cast<int>(random() % 6);
    for (int i = 0; i < n_changes; ++i) {
      const std::size_t at = random() % text.size();
      const char c = alphabet[random() % alphabet.size()];
      switch (random() % 4) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        case 2:
          text.erase(at, 1 + random() % 8);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 30));
      }
    }
    const ParsedPipeline parsed =
        parse_pipeline(text, "f", {}, [](const std::string& path) { return "{{ a }}" + path; });
    ASSERT_FALSE(format(parsed.diagnostics).empty() && !parsed.ok()) << text;
    for (const Diagnostic& diagnostic : parsed.diagnostics) {
      ASSERT_FALSE(diagnostic.message.empty()) << text;
      ASSERT_GE(diagnostic.pos.line, 0) << text;
    }
  }
}

TEST(LoadPipeline, SaysWhyAFileCannotBeRead) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "swarmkv_load_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "large.yaml") << std::string(10 * kMiB, 'x');

  const auto message = [](const std::string& path) -> std::string {
    try {
      static_cast<void>(load_pipeline(path));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnreadable);
      return error.what();
    }
    return "no error";
  };

  EXPECT_NE(message((folder / "none.yaml").string()).find("No such file"), std::string::npos);
  EXPECT_NE(message(folder.string()).find("it is a directory"), std::string::npos);
  EXPECT_NE(message((folder / "large.yaml").string()).find("larger than 1048576"),
            std::string::npos);
  EXPECT_NE(message("/dev/zero").find("larger than 1048576"), std::string::npos)
      << "bounded, whatever it is";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace swarmkv
