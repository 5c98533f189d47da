// file:// in a pipeline: what it reads, and that it leads nowhere but below the pipeline's folder.
#include "pipeline/file_texts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "pipeline/yaml_reader.h"
#include "swarmkv/error.h"

namespace swarmkv {
namespace {

namespace fs = std::filesystem;

class FileTexts : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("swarmkv_files_" + std::to_string(::getpid()));
    folder_ = root_ / "pipeline";
    fs::create_directories(folder_ / "prompts");
    write(root_ / "secret.txt", "secret");
    write(folder_ / "prompts" / "a.md", "Read {{ b }}.");
  }
  void TearDown() override { fs::remove_all(root_); }

  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  // What reading `path` says, or the text in brackets.
  [[nodiscard]] std::string read(const std::string& path) const {
    internal::FileTexts texts([this](const std::string& file) {
      return internal::read_file_below(folder_.string(), file);
    });
    const internal::FileTexts::Found found = texts.find(path);
    return found.problem.empty() ? "[" + std::string(found.text) + "]" : found.problem;
  }

  fs::path root_, folder_;
};

TEST_F(FileTexts, ReadsBelowTheFolder) {
  EXPECT_EQ(read("prompts/a.md"), "[Read {{ b }}.]");
  EXPECT_EQ(read("./prompts/../prompts/a.md"), "[Read {{ b }}.]");
}

TEST_F(FileTexts, LeavesTheFolderOnNoWay) {
  fs::create_symlink(root_ / "secret.txt", folder_ / "link.txt");
  fs::create_directory_symlink(root_, folder_ / "up");
  fs::create_symlink("prompts/a.md", folder_ / "inside.txt");

  EXPECT_EQ(read("../secret.txt"), "'../secret.txt' leaves the pipeline's folder");
  EXPECT_EQ(read("../nothing.txt"), "'../nothing.txt' leaves the pipeline's folder")
      << "what is outside is not even looked for";
  EXPECT_EQ(read("prompts/../../secret.txt"),
            "'prompts/../../secret.txt' leaves the pipeline's folder");
  EXPECT_EQ(read((root_ / "secret.txt").string()).find("is absolute") != std::string::npos, true);
  EXPECT_EQ(read("link.txt"), "'link.txt' leaves the pipeline's folder");
  EXPECT_EQ(read("up/secret.txt"), "'up/secret.txt' leaves the pipeline's folder");
  EXPECT_EQ(read("inside.txt"), "[Read {{ b }}.]") << "a link that stays inside is fine";
}

TEST_F(FileTexts, IsNotTheFolderOfALongerName) {
  fs::create_directories(root_ / "pipeline2");
  write(root_ / "pipeline2" / "x.txt", "x");
  fs::create_symlink(root_ / "pipeline2" / "x.txt", folder_ / "neighbour.txt");

  EXPECT_EQ(read("neighbour.txt"), "'neighbour.txt' leaves the pipeline's folder");
}

TEST_F(FileTexts, RefusesWhatIsNoText) {
  write(folder_ / "nul.txt", std::string("ab\0c", 4));
  write(folder_ / "latin1.txt", "caf\xe9");
  write(folder_ / "large.txt", std::string(internal::kMaxFileBytes + 1, 'x'));
  write(folder_ / "full.txt", std::string(internal::kMaxFileBytes, 'x'));
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);

  EXPECT_EQ(read("nul.txt"), "'nul.txt' is not text: NUL at byte 2");
  EXPECT_EQ(read("latin1.txt"), "'latin1.txt' is not text: invalid UTF-8 or NUL at byte 3");
  EXPECT_EQ(read("large.txt"), "'large.txt' is larger than 1048576 bytes");
  EXPECT_EQ(read("full.txt").size(), internal::kMaxFileBytes + 2);
  EXPECT_EQ(read("pipe"), "'pipe' is not a regular file") << "and is not waited for";
  EXPECT_EQ(read("prompts"), "'prompts' is not a regular file");
  EXPECT_EQ(read("none.txt"), "'none.txt' cannot be read: no such file in " + folder_.string() +
                                  "; did you mean 'nul.txt'?");
  EXPECT_EQ(read(""), "'' names no file");
  EXPECT_NE(read(std::string(300, 'x')).find("cannot be read"), std::string::npos);
}

TEST_F(FileTexts, DropsAByteOrderMark) {
  write(folder_ / "bom.txt", "\xEF\xBB\xBFtext");

  EXPECT_EQ(read("bom.txt"), "[text]");
}

TEST_F(FileTexts, HandsOutNoMoreInAllThanAFileMayExpandTo) {
  int n_reads = 0;
  internal::FileTexts texts([&](const std::string&) {
    ++n_reads;
    return std::string(internal::kMaxFileBytes, 'x');
  });
  const std::size_t n_fit = internal::kMaxExpandedBytes / internal::kMaxFileBytes;
  for (std::size_t i = 0; i < n_fit; ++i) EXPECT_EQ(texts.find("a").problem, "");

  EXPECT_EQ(texts.find("a").problem, "the texts from files have more than 16 MiB in all");
  EXPECT_EQ(n_reads, 1) << "a file is read once";
}

TEST_F(FileTexts, BecomePromptsSystemsAndSchemas) {
  write(folder_ / "system.md", "You work for {{ vars.buyer }}.");
  write(folder_ / "schema.json", R"({"type": "object"})");
  write(folder_ / "swarmkv.yaml", R"(
version: 1
vars: { buyer: Acme }
system: file://system.md
agents:
  b: { prompt: What?, json_schema: file://schema.json }
  a: { prompt: file://prompts/a.md, system: file://system.md }
)");

  const ParsedPipeline parsed = load_pipeline((folder_ / "swarmkv.yaml").string());

  ASSERT_TRUE(parsed.diagnostics.empty()) << format(parsed.diagnostics);
  EXPECT_EQ(parsed.pipeline.system, "You work for {{ vars.buyer }}.");
  EXPECT_EQ(parsed.pipeline.agents[0].sampling.json_schema, R"({"type": "object"})");
  EXPECT_EQ(parsed.pipeline.agents[1].prompt, "Read {{ b }}.");
  EXPECT_EQ(parsed.pipeline.agents[1].system, "You work for {{ vars.buyer }}.");
  EXPECT_EQ(parsed.pipeline.agents[1].needs, std::vector<std::string>{"b"});
}

TEST_F(FileTexts, ShowMistakesWhereTheyStand) {
  write(folder_ / "prompts" / "bad.md", "First line.\nThen {{ nobody }}.\n");
  write(folder_ / "swarmkv.yaml",
        "version: 1\nagents:\n  a: { prompt: file://prompts/bad.md }\n  b: { prompt: "
        "file://none.md }\n");

  const ParsedPipeline parsed = load_pipeline((folder_ / "swarmkv.yaml").string());

  ASSERT_EQ(parsed.diagnostics.size(), 2u) << format(parsed.diagnostics);
  EXPECT_EQ(parsed.diagnostics[0].code, "SK108");
  EXPECT_EQ(parsed.diagnostics[0].pos.line, 4);
  EXPECT_EQ(parsed.diagnostics[0].pos.column, 16);
  EXPECT_EQ(parsed.diagnostics[1].code, "SK302");
  EXPECT_EQ(fs::path(parsed.diagnostics[1].pos.file).filename(), "bad.md");
  EXPECT_EQ(parsed.diagnostics[1].pos.line, 2);
  EXPECT_EQ(parsed.diagnostics[1].pos.column, 6);
  EXPECT_EQ(parsed.diagnostics[1].excerpt, "") << "the line of the pipeline would mislead";
}

TEST_F(FileTexts, AreNotReadByParsingAlone) {
  const ParsedPipeline parsed =
      parse_pipeline("version: 1\nagents: { a: { prompt: file:///etc/passwd } }\n", "swarmkv.yaml");

  ASSERT_EQ(parsed.diagnostics.size(), 1u) << format(parsed.diagnostics);
  EXPECT_EQ(parsed.diagnostics[0].code, "SK108");
}

}  // namespace
}  // namespace swarmkv
