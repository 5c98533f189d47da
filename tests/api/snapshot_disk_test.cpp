// Disks that are full or read-only, and processes that may not write as much.
#include <gtest/gtest.h>

#include <cerrno>
#include <utility>

#include "support/file_size_limit.h"
#include "support/snapshot_host.h"

namespace swarmkv::testing {
namespace {

namespace fs = std::filesystem;
using internal::SystemCalls;

class SnapshotDisk : public SnapshotHostTest {};

struct FullDisk final : SystemCalls {
  ssize_t write(int fd, const void* from, std::size_t n) const override {
    if (n_left == 0) {
      errno = ENOSPC;
      return -1;
    }
    return SystemCalls::write(fd, from, std::min(n, std::exchange(n_left, 0)));
  }
  mutable std::size_t n_left = 100;
};

TEST_F(SnapshotDisk, AFullDiskCostsOneWarning) {
  const FullDisk disk;
  HostedEngine engine(with_disk(disk));
  expect_not_saved(engine.run(pipeline(), with_store()).wait(), "No space left on device");
  EXPECT_TRUE(files().empty());
}

// The folder is there and can be read, but nothing in it can be made, changed or removed.
struct ReadOnlyDisk final : SystemCalls {
  int open_at(int folder, const char* name, int flags, mode_t mode) const override {
    const bool writes = (flags & (O_CREAT | O_WRONLY | O_RDWR)) != 0;
    return writes ? refused() : SystemCalls::open_at(folder, name, flags, mode);
  }
  int make_folder(const char*, mode_t) const override { return refused(); }
  int set_used_now(int) const override { return refused(); }
  int rename_at(int, const char*, const char*) const override { return refused(); }
  int unlink_at(int, const char*) const override { return refused(); }

 private:
  static int refused() {
    errno = EROFS;
    return -1;
  }
};

TEST_F(SnapshotDisk, AReadOnlyFolderCostsOneWarningAndIsReadAllTheSame) {
  const ReadOnlyDisk disk;
  {
    HostedEngine engine(with_disk(disk));
    const RunReport none = engine.run(pipeline(), with_store()).wait();
    EXPECT_EQ(none.exit_code, 0);
    EXPECT_EQ(answers_of(none), answers_of(cold_));
    ASSERT_EQ(none.warnings.size(), 1u) << "no folder, and none can be made";
    EXPECT_EQ(none.warnings[0].code, "SK608");
    EXPECT_NE(none.warnings[0].message.find("Read-only file system"), std::string::npos)
        << none.warnings[0].message;
    EXPECT_FALSE(fs::exists(folder_));
  }
  (void)Engine(fake_model(), {}).run(pipeline('b'), with_store()).wait();
  HostedEngine engine(with_disk(disk));
  expect_not_saved(engine.run(pipeline(), with_store()).wait(), "Read-only file system");
  const RunReport restored = engine.run(pipeline('b'), with_store()).wait();
  EXPECT_EQ(restored.documents[0].computed_tokens, 0);
  EXPECT_TRUE(restored.warnings.empty());
  expect_whole_files(1, 1);
}

// Damage can only be told there, each time anew: setting it aside is refused, too.
TEST_F(SnapshotDisk, ADamagedFileInAReadOnlyFolderIsToldOnceARun) {
  (void)Engine(fake_model(), {}).run(pipeline(), with_store()).wait();
  std::string bytes = read_bytes(only_file());
  bytes.back() ^= 1;
  write_bytes(only_file(), bytes);
  const ReadOnlyDisk disk;
  for (int round = 0; round < 2; ++round) {
    HostedEngine engine(with_disk(disk));
    const RunReport report = engine.run(pipeline(), with_store()).wait();
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_EQ(answers_of(report), answers_of(cold_));
    EXPECT_EQ(warnings_with(report, "SK607").size(), 1u);
    EXPECT_EQ(warnings_with(report, "SK608").size(), 1u) << "nor could a good one be written";
    EXPECT_EQ(read_bytes(only_file()), bytes);
  }
}

TEST_F(SnapshotDisk, AFileLargerThanTheProcessMayWriteCostsOneWarning) {
  Engine engine(fake_model(), {});
  RunReport report;
  {
    const FileSizeLimit limit(1000);
    report = engine.run(pipeline(), with_store()).wait();
  }
  expect_not_saved(report, "File too large");
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace swarmkv::testing
