#include "cli/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
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

class Output : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "swarmkv_output_XXXXXX").string();
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
  std::size_t n_files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static ErrorCode error_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kInternal;
  }

  fs::path folder_;
};

TEST_F(Output, ReplacesAFileWholeWithTheUsualMode) {
  const fs::path path = folder_ / "r.json";
  std::ofstream(path) << "a longer text from before";
  const mode_t before = ::umask(022);

  write_file(path, "new");
  ::umask(before);

  EXPECT_EQ(read(path), "new");
  EXPECT_EQ(n_files(), 1U) << "the temporary file is gone";
  EXPECT_EQ(static_cast<unsigned>(fs::status(path).permissions()), 0644U);
}

TEST_F(Output, KeepsALinkAndReplacesWhatItPointsAt) {
  std::ofstream(folder_ / "target.json") << "old";
  fs::create_symlink("target.json", folder_ / "link.json");

  write_file(folder_ / "link.json", "new");

  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_EQ(read(folder_ / "target.json"), "new");
}

TEST_F(Output, ChecksAPlaceWithoutLeavingAnythingThere) {
  check_writable(folder_ / "r.json");

  EXPECT_EQ(n_files(), 0U);
  EXPECT_EQ(error_of([&] { check_writable(folder_ / "missing" / "r.json"); }),
            ErrorCode::kUnwritable);
  EXPECT_EQ(error_of([&] { check_writable(folder_); }), ErrorCode::kUnwritable) << "a folder";
}

TEST_F(Output, ReportsAFullDisk) {
  fs::create_symlink("/dev/full", folder_ / "full.json");
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);

  EXPECT_EQ(error_of([&] { write_file(folder_ / "full.json", "text"); }), ErrorCode::kUnwritable);
  EXPECT_EQ(error_of([&] { write_all(full, "text", "standard output"); }), ErrorCode::kUnwritable);
  ::close(full);
}

TEST_F(Output, TakesAVanishedReaderForTheEndAndNotForAnError) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);

  EXPECT_FALSE(write_all(ends[1], "text", "standard output"));
  ::close(ends[1]);
}

}  // namespace
}  // namespace swarmkv::cli
