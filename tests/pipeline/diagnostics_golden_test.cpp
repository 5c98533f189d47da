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

// Messages name the whole folder that was looked in; a checkout is anywhere.
std::string without(std::string text, const std::string& folder) {
  const std::string place = std::filesystem::absolute(folder).lexically_normal().string();
  for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at)) {
    text.replace(at, place.size(), "FOLDER");
  }
  return text;
}

TEST(PipelineDiagnostics, ReadExactlyAsTheGoldenTexts) {
  const std::vector<std::filesystem::path> files = golden_pipelines();

  ASSERT_GE(files.size(), 58u);
  for (const std::filesystem::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();

    const std::string folder = file.parent_path().string();
    const auto read_file = [&folder](const std::string& path) {
      return internal::read_file_below(folder, path);
    };
    // The others name documents that nobody has to have.
    DocumentCheck check;
    if (file.filename().string().rfind("missing_", 0) == 0) {
      check = [&folder](const std::string&, const std::string& path) {
        return check_document(folder, path);
      };
    }

    const ParsedPipeline parsed =
        parse_pipeline(text.str(), file.filename().string(), {}, read_file, {}, check);

    const std::string printed = format(parsed.diagnostics) + (parsed.ok() ? "ok\n" : "not ok\n");
    testing::expect_golden("pipeline/" + file.stem().string() + ".txt", without(printed, folder));
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
