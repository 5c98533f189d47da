// What a user reads about a broken pipeline file: every tests/golden/pipeline/NAME.yaml gives
// exactly NAME.txt.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "pipeline/file_texts.h"
#include "support/golden.h"
#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace {

std::vector<std::filesystem::path> golden_pipelines() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(testing::golden_path("pipeline"))) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(PipelineDiagnostics, ReadExactlyAsTheGoldenTexts) {
  const std::vector<std::filesystem::path> files = golden_pipelines();

  ASSERT_GE(files.size(), 33u);
  for (const std::filesystem::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();

    const ParsedPipeline parsed =
        parse_pipeline(text.str(), file.filename().string(), {}, [&file](const std::string& path) {
          return internal::read_file_below(file.parent_path().string(), path);
        });

    const std::string printed = format(parsed.diagnostics) + (parsed.ok() ? "ok\n" : "not ok\n");
    testing::expect_golden("pipeline/" + file.stem().string() + ".txt", printed);
  }
}

TEST(PipelineDiagnostics, ShowControlCharactersInsteadOfSendingThemToTheTerminal) {
  Diagnostic diagnostic;
  diagnostic.message = "name '\x1b[2J\nerror: forged'";
  diagnostic.code = "SK201";
  diagnostic.pos = {"a\x1b.yaml", 1, 2};
  diagnostic.excerpt = "x\x07y";
  diagnostic.hint = "h\nh";

  const std::string text = format({diagnostic});

  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
}

TEST(PipelineDiagnostics, StandWithoutPositionWhenThePipelineWasBuiltInCode) {
  Pipeline pipeline;
  pipeline.agents.resize(1);
  pipeline.agents[0].name = "a";
  pipeline.agents[0].prompt = "{{ b }}";

  EXPECT_EQ(format(validate(pipeline)), "error: 'a' needs 'b', which is not an agent [SK302]\n");
}

TEST(PipelineDiagnostics, RepeatTabsSoThatTheMarkStandsBelowItsText) {
  Diagnostic diagnostic;
  diagnostic.message = "m";
  diagnostic.pos = {"f", 3, 4};
  diagnostic.length = 99;
  diagnostic.excerpt = "\ta\tbc";

  EXPECT_EQ(format({diagnostic}), "f:3:4: error: m\n    3 | \ta\tbc\n      | \t \t^~\n");
}

}  // namespace
}  // namespace swarmkv
