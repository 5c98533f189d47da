#include "cli/answer_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

namespace fs = std::filesystem;

class AnswerFilesTest : public ::testing::Test {
 protected:
  AnswerFilesTest() {
    fs::create_directories(folder_ / "pipeline");
    pipeline_.folder = (folder_ / "pipeline").string();
  }
  ~AnswerFilesTest() override { fs::remove_all(folder_); }

  void agent(const std::string& name, const std::string& output_file) {
    AgentSpec& spec = pipeline_.agents.emplace_back();
    spec.name = name;
    spec.output_file = output_file;
  }
  static Event finished(const std::string& name, const std::string& text) {
    Event event;
    event.type = EventType::kAgentFinished;
    event.name = name;
    event.text = text;
    return event;
  }
  [[nodiscard]] std::string content(const std::string& path) const {
    std::ifstream file(folder_ / "pipeline" / path, std::ios::binary);
    std::ostringstream out;
    out << file.rdbuf();
    return file ? out.str() : "(no file)";
  }
  // What the constructor says, and nothing if it is content.
  std::string refusal() {
    try {
      const AnswerFiles files(pipeline_);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnwritable);
      return error.what();
    }
    return "";
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) /
                           ("answers" + std::to_string(::getpid()) + "_" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name());
  Pipeline pipeline_;
};

TEST_F(AnswerFilesTest, EachAnswerIsWrittenWhenItsAgentHasFinishedAndNoOther) {
  agent("memo", "out/deep/memo.md");
  agent("note", "note.txt");
  agent("silent", "");
  AnswerFiles files(pipeline_);
  EXPECT_EQ(content("note.txt"), "(no file)") << "only tried so far";

  files.on_event(finished("note", "two\nlines"));
  Event failed = finished("memo", "timed out");
  failed.type = EventType::kAgentFailed;
  files.on_event(failed);
  EXPECT_EQ(content("note.txt"), "two\nlines\n");
  EXPECT_EQ(content("out/deep/memo.md"), "(no file)") << "a failed agent has no answer";

  files.on_event(finished("silent", "x"));
  files.on_event(finished("memo", "ends\n"));
  EXPECT_EQ(content("out/deep/memo.md"), "ends\n");
  files.check();
  std::size_t n = 0;
  for (const auto& entry : fs::recursive_directory_iterator(pipeline_.folder)) {
    n += entry.is_regular_file();
  }
  EXPECT_EQ(n, 2U) << "nothing temporary is left";
}

TEST_F(AnswerFilesTest, ReplacesAnOlderAnswerAtOnce) {
  agent("note", "note.txt");
  std::ofstream(fs::path(pipeline_.folder) / "note.txt") << "an older and much longer answer";
  AnswerFiles files(pipeline_);
  EXPECT_EQ(content("note.txt"), "an older and much longer answer");

  files.on_event(finished("note", "new"));

  EXPECT_EQ(content("note.txt"), "new\n");
}

// swarmkv run pipeline.yaml in the pipeline's own folder, for the first time.
TEST_F(AnswerFilesTest, MakesItsFolderBesideAPipelineThatIsRunFromItsPlace) {
  const fs::path before = fs::current_path();
  fs::current_path(pipeline_.folder);
  agent("memo", "out/memo.md");
  for (const char* folder : {"", "."}) {
    pipeline_.folder = folder;
    EXPECT_EQ(refusal(), "") << '"' << folder << '"';
    EXPECT_EQ(fs::remove_all("out"), 1U) << "made, and nothing left in it";
  }
  fs::current_path(before);
}

TEST_F(AnswerFilesTest, LeavesThePipelinesFolderByNoWay) {
  fs::create_directories(folder_ / "outside");
  fs::create_directory_symlink(folder_ / "outside", fs::path(pipeline_.folder) / "link");
  fs::create_symlink(folder_ / "outside" / "file", fs::path(pipeline_.folder) / "leaf");
  for (const char* path : {"../outside/a.txt", "link/a.txt", "link/new/a.txt", "leaf", ".",
                           "/tmp/swarmkv_never_there/a.txt"}) {
    pipeline_.agents.clear();
    agent("note", path);
    EXPECT_NE(refusal().find("outside of the pipeline's folder"), std::string::npos) << path;
  }
  EXPECT_TRUE(fs::is_empty(folder_ / "outside"));
}

TEST_F(AnswerFilesTest, FindsAPlaceThatCannotBeWrittenBeforeAnythingRuns) {
  std::ofstream(fs::path(pipeline_.folder) / "file") << "x";
  agent("note", "file/a.txt");
  EXPECT_NE(refusal().find("file/a.txt"), std::string::npos);

  pipeline_.agents.clear();
  fs::create_directories(fs::path(pipeline_.folder) / "folder");
  agent("note", "folder");
  EXPECT_NE(refusal().find("folder"), std::string::npos);
}

// Between the check and the answer somebody puts a link in the place of a folder, and another one
// in the place of the file.
TEST_F(AnswerFilesTest, AFolderThatBecomesALinkDuringTheRunLeadsNowhere) {
  const fs::path outside = folder_ / "outside";
  fs::create_directories(outside / "deep");
  agent("memo", "out/deep/memo.md");
  agent("top", "out/top.md");
  agent("kept", "kept.txt");
  AnswerFiles files(pipeline_);
  fs::rename(fs::path(pipeline_.folder) / "out", fs::path(pipeline_.folder) / "moved");
  fs::create_directory_symlink(outside, fs::path(pipeline_.folder) / "out");

  for (const char* name : {"memo", "top", "kept"}) files.on_event(finished(name, "secret"));

  EXPECT_TRUE(fs::is_empty(outside / "deep"));
  EXPECT_EQ(std::distance(fs::directory_iterator(outside), fs::directory_iterator()), 1);
  EXPECT_EQ(content("kept.txt"), "secret\n");
  EXPECT_THROW(files.check(), Error);
}

TEST_F(AnswerFilesTest, AFileThatBecomesALinkDuringTheRunIsReplacedAndNotFollowed) {
  const fs::path outside = folder_ / "outside";
  std::ofstream(outside) << "untouched";
  agent("note", "note.txt");
  AnswerFiles files(pipeline_);
  fs::create_symlink(outside, fs::path(pipeline_.folder) / "note.txt");

  files.on_event(finished("note", "secret"));
  files.check();

  EXPECT_EQ(content("../outside"), "untouched");
  EXPECT_EQ(content("note.txt"), "secret\n");
  EXPECT_FALSE(fs::is_symlink(fs::path(pipeline_.folder) / "note.txt"));
}

TEST_F(AnswerFilesTest, ALinkThatStaysInTheFolderIsFollowed) {
  fs::create_directories(fs::path(pipeline_.folder) / "real");
  fs::create_directory_symlink("real", fs::path(pipeline_.folder) / "link");
  agent("note", "link/note.txt");
  AnswerFiles files(pipeline_);

  files.on_event(finished("note", "x"));
  files.check();

  EXPECT_EQ(content("real/note.txt"), "x\n");
}

TEST_F(AnswerFilesTest, AFailedWriteIsToldAtTheEndAndKeepsNoOtherAnswerBack) {
  agent("lost", "gone/a.txt");
  agent("kept", "kept.txt");
  AnswerFiles files(pipeline_);
  fs::remove_all(fs::path(pipeline_.folder) / "gone");

  EXPECT_NO_THROW(files.on_event(finished("lost", "x")));
  files.on_event(finished("kept", "y"));

  EXPECT_EQ(content("kept.txt"), "y\n");
  EXPECT_THROW(files.check(), Error);
}

}  // namespace
}  // namespace swarmkv::cli
