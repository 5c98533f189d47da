#include "cli/report_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

namespace fs = std::filesystem;

// Everything holds on file systems with and without files that have no name.
class ReportFileTest : public ::testing::TestWithParam<ReportFile::While> {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "swarmkv_report_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static unsigned mode_of(const fs::path& path) {
    return static_cast<unsigned>(fs::status(path).permissions());
  }
  std::size_t n_files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string error_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code() == ErrorCode::kUnwritable ? error.what() : "another error";
    }
    return "no error";
  }
  void write(const std::string& name, std::string_view text) const {
    ReportFile((folder_ / name).string(), GetParam()).write(text);
  }
  std::string refusal(const std::string& name) const {
    return error_of([&] { ReportFile((folder_ / name).string(), GetParam()); });
  }

  fs::path folder_;
};

INSTANTIATE_TEST_SUITE_P(Both, ReportFileTest,
                         ::testing::Values(ReportFile::While::kUnnamed, ReportFile::While::kNamed),
                         [](const auto& each) {
                           return each.param == ReportFile::While::kNamed ? "Named" : "Unnamed";
                         });

TEST_P(ReportFileTest, MakesAFileWithTheUsualMode) {
  const mode_t before = ::umask(027);
  write("r.json", "text");
  ::umask(before);

  EXPECT_EQ(read(folder_ / "r.json"), "text");
  EXPECT_EQ(n_files(), 1U) << "and no other";
  EXPECT_EQ(mode_of(folder_ / "r.json"), 0640U);
}

TEST_P(ReportFileTest, ReplacesAFileWholeAndKeepsItsMode) {
  std::ofstream(folder_ / "r.json") << "a longer text from before";
  ASSERT_EQ(::chmod((folder_ / "r.json").c_str(), 0604), 0);

  write("r.json", "new");

  EXPECT_EQ(read(folder_ / "r.json"), "new");
  EXPECT_EQ(mode_of(folder_ / "r.json"), 0604U);
  EXPECT_EQ(n_files(), 1U);
}

TEST_P(ReportFileTest, TakesTheLongestNameThatAFolderTakes) {
  const std::string name = std::string(250, 'x') + ".json";
  write(name, "text");

  EXPECT_EQ(read(folder_ / name), "text");
  EXPECT_NE(refusal("x" + name).find("File name too long"), std::string::npos);
}

TEST_P(ReportFileTest, FollowsLinksAndKeepsThem) {
  fs::create_directory(folder_ / "there");
  std::ofstream(folder_ / "there" / "old.json") << "old";
  fs::create_symlink("there/old.json", folder_ / "a.json");
  fs::create_symlink("there/new.json", folder_ / "b.json");
  fs::create_symlink("b.json", folder_ / "c.json");

  write("a.json", "replaced");
  write("c.json", "made");

  EXPECT_EQ(read(folder_ / "there" / "old.json"), "replaced");
  EXPECT_EQ(read(folder_ / "there" / "new.json"), "made") << "two links on, and not there before";
  for (const char* link : {"a.json", "b.json", "c.json"}) {
    EXPECT_TRUE(fs::is_symlink(folder_ / link)) << link;
  }
}

TEST_P(ReportFileTest, RefusesAPlaceWithoutLeavingAnythingThere) {
  fs::create_symlink("loop.json", folder_ / "loop.json");
  fs::create_symlink("missing/r.json", folder_ / "lost.json");
  std::ofstream(folder_ / "file") << "";

  EXPECT_NE(refusal("missing/r.json").find("No such file"), std::string::npos);
  EXPECT_NE(refusal("lost.json").find("lost.json': No such file"), std::string::npos);
  EXPECT_NE(refusal("loop.json").find("symbolic links"), std::string::npos);
  EXPECT_NE(refusal("file/r.json").find("Not a directory"), std::string::npos);
  EXPECT_NE(refusal(".").find("Is a directory"), std::string::npos);
  EXPECT_EQ(refusal("r.json"), "no error");
  EXPECT_EQ(n_files(), 3U);
}

TEST_P(ReportFileTest, ReportsAFullDisk) {
  fs::create_symlink("/dev/full", folder_ / "full.json");

  EXPECT_NE(error_of([&] { write("full.json", "text"); }).find("No space left"), std::string::npos);
}

TEST_P(ReportFileTest, DoesNotWaitForThePipesReader) {
  const std::string pipe = (folder_ / "pipe.json").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(refusal("pipe.json").find("no program reads from this pipe"), std::string::npos);

  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ReportFile report(pipe, GetParam());
  char buffer[8] = {};
  EXPECT_EQ(::read(reader, buffer, sizeof buffer), -1) << "0 would be its end";
  report.write("text");
  EXPECT_EQ(::read(reader, buffer, sizeof buffer), 4);
  ::close(reader);

  std::signal(SIGPIPE, SIG_IGN);
  EXPECT_NE(error_of([&] { report.write("text"); }).find("Broken pipe"), std::string::npos);
}

ReportFile* the_report = nullptr;

// A process that ends while it writes: by the signal that a file at its size limit brings.
int status_of_a_process_that_ends_while_writing(ReportFile& report, void (*on_limit)(int)) {
  the_report = &report;
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit small{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    std::signal(SIGXFSZ, on_limit);
    report.write(std::string(1 << 20, 'x'));
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_P(ReportFileTest, LeavesNothingBehindWhenTheProcessEndsAndAbandonsIt) {
  ReportFile report((folder_ / "r.json").string(), GetParam());

  const int status = status_of_a_process_that_ends_while_writing(report, [](int) {
    the_report->abandon();
    ::_exit(7);
  });

  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7) << "it did end while it wrote";
  EXPECT_EQ(n_files(), 0U);
}

TEST_P(ReportFileTest, LeavesNothingBehindWhenTheProcessIsKilledWhereFilesNeedNoName) {
  if (GetParam() == ReportFile::While::kNamed) return;  // there it cannot be helped
  const int probe = ::open(folder_.c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (probe < 0) GTEST_SKIP() << "every file of this file system has a name";
  ::close(probe);
  ReportFile report((folder_ / "r.json").string());

  const int status = status_of_a_process_that_ends_while_writing(report, SIG_DFL);

  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(n_files(), 0U);
}

}  // namespace
}  // namespace swarmkv::cli
